// The Volterra equation and the functional law of power-law kernel regression, to a per cent, in milliseconds.
// f = delta_M + e(t) + int K(t - r) gamma(r) (f(r) + noise) dr by modes; the excess risk is f/2. The functional
// law puts e(r) + delta_M in the place of f(r).
const solver = (() => {
  'use strict';
  const FINE = {few: 64, width: 1.08}, COARSE = {few: 20, width: 1.2};
  // Modes kept one by one, and the ratio of the bins of the others: for losses, and for the search.
  const ROUNDS = 200; // of the search for the best schedule

  // The sum of j^-p over from < j <= to by the integral with the ends between the terms.
  const powerSum = (p, from, to) => {
    const a = from + 0.5, b = to + 0.5;
    return Math.abs(p - 1) < 1e-9 ? Math.log(b / a) : (a ** (1 - p) - (b === Infinity ? 0 : b ** (1 - p))) / (p - 1);
  };

  function modes({s, beta, size}, {few, width} = FINE) {
    const rate = [], signal = [], kernel = [];
    for (let j = 1; j <= Math.min(few, size); j++) {
      rate.push(j ** -beta); signal.push(j ** -(s * beta + 1)); kernel.push(j ** (-2 * beta));
    }
    for (let from = few; from < size;) {
      const to = Math.min(size, Math.max(from + 1, Math.round(from * width)));
      rate.push(Math.sqrt((from + 0.5) * (to + 0.5)) ** -beta);
      signal.push(powerSum(s * beta + 1, from, to)); kernel.push(powerSum(2 * beta, from, to));
      from = to;
    }
    return {rate, signal, kernel, rest: powerSum(s * beta + 1, size, Infinity)};
  }

  const signalAt = (m, t) => m.rate.reduce((sum, rate, j) => sum + m.signal[j] * Math.exp(-2 * rate * t), 0);
  // The integral of the kernel up to x, and the kernel there.
  function kernelUpTo(m, x) {
    let sum = 0, here = 0;
    for (let j = 0; j < m.rate.length; j++) {
      const gone = -Math.expm1(-2 * m.rate[j] * x);
      sum += m.kernel[j] * gone / (2 * m.rate[j]);
      here += m.kernel[j] * (1 - gone);
    }
    return [sum, here];
  }

  // Learning rate as a share of the peak, z the share of the steps done.
  const shapes = {
    'constant': () => 1,
    'exp-decay': (z, steps) => steps ** -z,
    'wsd': (z, steps) => z < 0.8 ? 1 : steps ** (-(z - 0.8) / 0.2),
    'cosine': z => 0.5 * (1 + Math.cos(Math.PI * z)),
    'linear': z => 1 - z,
    '1-sqrt': z => z < 0.8 ? 1 : 1 - Math.sqrt((z - 0.8) / 0.2),
  };

  // Steps between which the rate is taken as constant: fine where the run begins and where it ends.
  function grid(steps) {
    const marks = new Set([0, steps]);
    for (let k = 0; k <= 160; k++) {
      const near = Math.round(steps ** (k / 160));
      marks.add(near); marks.add(steps - near); marks.add(Math.round(k * steps / 160));
    }
    return [...marks].filter(mark => mark >= 0 && mark <= steps).sort((one, other) => one - other);
  }

  function plan(name, peak, steps) {
    const marks = grid(steps);
    const rates = marks.slice(1).map((to, k) => peak * shapes[name]((to + marks[k] - 1) / (2 * steps), steps));
    return {marks, rates};
  }

  // The excess risk at the marks, with the loss's own noise fed back (Volterra) or only the signal's (functional law).
  function risks(model, {marks, rates}, law = 'volterra') {
    const m = modes(model), state = m.rate.map(() => 0), signal = [...m.signal];
    const total = values => values.reduce((sum, value) => sum + value, 0);
    let level = m.rest + total(signal);
    const found = [level / 2];
    for (let k = 0; k < rates.length; k++) {
      const rate = rates[k], time = rate * (marks[k + 1] - marks[k]);
      const decay = m.rate.map(each => Math.exp(-2 * each * time));
      const gain = m.rate.map((each, j) => each * time < 1e-8 ? m.kernel[j] * time : m.kernel[j] * (1 - decay[j]) / (2 * each));
      const before = [...state], own = m.rest + total(signal);
      signal.forEach((value, j) => { signal[j] = value * decay[j]; });
      const after = m.rest + total(signal);
      const march = drive => {
        state.forEach((_, j) => { state[j] = before[j] * decay[j] + rate * (drive + model.noise) * gain[j]; });
        return after + total(state);
      };
      if (law === 'functional') level = march((own + after) / 2);
      else { const start = level; for (let pass = 0; pass < 3; pass++) level = march((start + level) / 2); }
      found.push(level / 2);
    }
    return found;
  }

  // The schedule of least final functional loss with rates between 0 and the peak, by projected gradient.
  function best(model, peak, steps) {
    const m = modes(model, COARSE), all = grid(steps);
    const marks = all.filter((_, k) => k % 6 === 0 || k === all.length - 1);
    const lengths = marks.slice(1).map((to, k) => to - marks[k]);
    const value = rates => {
      const n = rates.length, left = Array(n + 1).fill(0);
      for (let k = n - 1; k >= 0; k--) left[k] = left[k + 1] + rates[k] * lengths[k];
      const kernel = left.map(x => kernelUpTo(m, x)), noise = kernel.map(each => each[0]), slope = kernel.map(each => each[1]);
      let loss = m.rest + signalAt(m, left[0]), grow = 0;
      const falling = -2 * m.rate.reduce((sum, rate, j) => sum + rate * m.signal[j] * Math.exp(-2 * rate * left[0]), 0);
      const gradient = rates.map((rate, k) => {
        loss += model.noise * rate * (noise[k] - noise[k + 1]);
        grow += model.noise * rate * slope[k];
        const own = falling + model.noise * ((noise[k] - noise[k + 1]) / lengths[k]) + grow;
        grow -= model.noise * rate * slope[k + 1];
        return own * lengths[k];
      });
      return {loss, gradient};
    };
    // Spectral projected gradient from the best of the named schedules; a step is a change of rate for each step.
    const clip = rate => Math.min(peak, Math.max(0, rate));
    const starts = Object.keys(shapes).map(name => marks.slice(1).map((to, k) => clip(peak * shapes[name]((to + marks[k] - 1) / (2 * steps), steps))));
    let rates = starts.reduce((one, other) => value(other).loss < value(one).loss ? other : one), now = value(rates);
    let least = {rates, ...now}, size = 0;
    const slopes = at => at.gradient.map((each, k) => each / lengths[k]);
    const recent = [now.loss];
    for (let round = 0; round < ROUNDS; round++) {
      const slope = slopes(now);
      size = size || peak / Math.max(...slope.map(Math.abs));
      let step = slope.map((each, k) => clip(rates[k] - size * each) - rates[k]), share = 1, next, trial;
      const fall = step.reduce((sum, each, k) => sum + each * now.gradient[k], 0);
      if (fall > -1e-13 * now.loss) break;
      do {
        trial = rates.map((rate, k) => rate + share * step[k]);
        next = value(trial);
        share /= 2;
      } while (next.loss > Math.max(...recent) + 2e-4 * share * fall && share > 1e-10);
      const change = trial.map((rate, k) => rate - rates[k]), turn = slopes(next).map((each, k) => each - slope[k]);
      const along = change.reduce((sum, each, k) => sum + lengths[k] * each * turn[k], 0);
      const square = change.reduce((sum, each, k) => sum + lengths[k] * each * each, 0);
      size = along > 0 ? square / along : 10 * size;
      rates = trial; now = next;
      recent.push(now.loss); if (recent.length > 8) recent.shift();
      if (now.loss < least.loss) least = {rates, ...now};
    }
    return {marks, rates: least.rates, risk: least.loss / 2};
  }

  return {modes, plan, risks, best, shapes};
})();
