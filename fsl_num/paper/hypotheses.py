"""What most claims of the paper assume."""

MODEL = "lambda_j = j^-beta, theta_j^2 = j^-1 lambda_j^(s-1), s > 0, beta > 1"
