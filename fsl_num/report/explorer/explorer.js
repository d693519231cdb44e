// Controls, table and figures of the explorer.
(() => {
  'use strict';
  const form = document.getElementById('controls');
  const table = JSON.parse(document.getElementById('table').textContent);
  const COLOURS = {'constant': '--soft', 'exp-decay': '--unknown', 'wsd': '--supported', 'cosine': '--link',
    'linear': '--vacuous', '1-sqrt': '--enclosed', 'best': '--refuted'};
  const LOGARITHMIC = ['size', 'noise', 'steps', 'peak'];
  const short = (value, least = 1) => Number(value.toPrecision(3)).toLocaleString('en', {minimumSignificantDigits: least, maximumSignificantDigits: 3, notation: Math.abs(value) >= 1e5 || value && Math.abs(value) < 1e-3 ? 'scientific' : 'standard'});
  for (const name of Object.keys(solver.shapes)) form.elements.schedule.append(new Option(name, name, name === 'wsd', name === 'wsd'));

  function values() {
    const found = {};
    for (const name of ['s', 'beta', ...LOGARITHMIC]) {
      const typed = Number(form.elements[name].value);
      found[name] = LOGARITHMIC.includes(name) ? 10 ** typed : typed;
    }
    found.size = Math.round(found.size);
    found.steps = Math.round(found.steps);
    return {...found, schedule: form.elements.schedule.value, budget: form.elements.budget.value};
  }

  // A formula in s and beta; the formulas come from the page itself.
  const evaluate = (code, s, beta) => Function('s', 'beta', `return ${code}`)(s, beta);
  const order = (exponents, base, s, beta) => {
    if (!exponents) return null;
    const [power, log] = exponents.map(code => Number(evaluate(code, s, beta).toFixed(3)));
    const raised = (what, exponent) => exponent === 1 ? what : `${what}<sup>${String(exponent).replace('-', '−')}</sup>`;
    const factors = [power ? raised(base, power) : '', log ? raised(`(log\u00a0${base})`, log) : ''].filter(Boolean);
    return factors.map(factor => `<span class="factor">${factor}</span>`).join(' ') || '1';
  };

  // A regime of an allocation holds where its conditions do: differences that are above, below or at 0.
  const holds = (s, beta) => ([code, relation]) => {
    const value = evaluate(code, s, beta), sign = Math.abs(value) < 1e-9 ? '==' : value > 0 ? '>' : '<';
    return relation.includes(sign);
  };

  function exponents({s, beta, schedule, budget}) {
    const edge = 1 - 1 / beta, regime = Math.abs(s - edge) < 1e-9 ? 'edge' : s > edge ? 'easy' : 'hard';
    document.getElementById('regime').textContent =
      `${{easy: 'An easy task', edge: 'On the edge', hard: 'A hard task'}[regime]}: s = ${s} ${regime === 'easy' ? '>' : regime === 'edge' ? '=' : '<'} 1 − 1/β = ${short(edge)}`;
    const found = table.find(each => each.schedule === schedule && each.budget === budget);
    const base = budget === 'data' ? 'D' : 'C';
    const here = found.regimes.find(each => each.where.every(holds(s, beta)));
    document.getElementById('cell').textContent = `Optimum of ${schedule}, ${here.name.replace('beta', 'β')}:`;
    document.getElementById('exponents').innerHTML = here.optimum.map(row => {
      const low = order(row.lower, base, s, beta), high = order(row.upper, base, s, beta);
      const value = low === high ? low : low && high ? `from ${low} to ${high}` : low ? `at least ${low}` : `at most ${high}`;
      return `<tr><th scope="row">${row.name}</th><td>${row.formula}</td><td>${value}</td></tr>`;
    }).join('');
  }

  // A figure: curves as {name, x, y, style} on logarithmic or linear axes.
  function draw(id, curves, {logX, logY, left = 54, bottom = 34}) {
    const svg = document.getElementById(id), width = Math.max(260, Math.min(640, svg.clientWidth || 640));
    const height = Math.round((id === 'risk' ? 140 : 110) + width * (id === 'risk' ? 0.3125 : 0.171875));
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);  // on a phone the figure is narrow, and its letters are not small
    const points = curves.flatMap(curve => curve.x.map((x, k) => [x, curve.y[k]])).filter(([x, y]) => (!logX || x > 0) && (!logY || y > 0));
    const scale = (at, log, start, end) => {
      const given = points.map(point => log ? Math.log10(point[at]) : point[at]);
      const low = log ? given.reduce((a, b) => Math.min(a, b)) : 0, high = given.reduce((a, b) => Math.max(a, b)) || 1;
      return {low, high, log, to: value => start + ((log ? Math.log10(value) : value) - low) / (high - low || 1) * (end - start)};
    };
    const x = scale(0, logX, left, width - 12), y = scale(1, logY, height - bottom, 10);
    const ticks = axis => {
      const span = axis.high - axis.low;
      if (axis.log && span < 3) {  // round numbers, not even parts of a power of ten
        const decades = Array.from({length: 5}, (_, k) => 10 ** (Math.floor(axis.low) + k));
        return decades.flatMap(ten => (span < 0.6 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : span < 2 ? [1, 2, 5] : [1, 3]).map(part => part * ten))
          .filter(mark => Math.log10(mark) >= axis.low && Math.log10(mark) <= axis.high);
      }
      const size = axis.log ? Math.ceil(span / 6) : 10 ** Math.floor(Math.log10(span / 2));
      const marks = [];
      for (let mark = Math.ceil(axis.low / size) * size; mark <= axis.high + 1e-9; mark += size) marks.push(mark);
      return marks.filter((_, k) => marks.length < 8 || k % Math.ceil(marks.length / 7) === 0).map(mark => axis.log ? 10 ** mark : mark);
    };
    const path = curve => curve.x.map((value, k) => [value, curve.y[k]]).filter(([a, b]) => (!logX || a > 0) && (!logY || b > 0))
      .map(([a, b], k) => `${k ? 'L' : 'M'}${x.to(a).toFixed(1)} ${y.to(b).toFixed(1)}`).join('');
    svg.innerHTML = `<path class="axis" d="M${left} 10V${height - bottom}H${width - 12}"></path>`
      + ticks(x).map(mark => `<text x="${Math.min(x.to(mark), width - 26)}" y="${height - bottom + 16}" text-anchor="middle">${short(mark)}</text>`).join('')
      + ticks(y).map(mark => `<text x="${left - 6}" y="${y.to(mark) + 4}" text-anchor="end">${short(mark)}</text>`).join('')
      + `<text x="${width - 12}" y="${height - 4}" text-anchor="end">step</text>`
      + curves.map(curve => `<path class="curve ${curve.style}" stroke="var(${COLOURS[curve.name]})" d="${path(curve)}"></path>`).join('');
  }

  function show(search) {
    const model = values(), {schedule, peak, steps} = model;
    for (const name of ['s', 'beta', ...LOGARITHMIC]) {
      document.getElementById(`${name}-value`).textContent = short(model[name]);
      form.elements[name].setAttribute('aria-valuetext', short(model[name]));  // not its logarithm
    }
    exponents(model);
    const named = Object.keys(solver.shapes).map(name => ({name, plan: solver.plan(name, peak, steps)}));
    const best = search && solver.best(model, peak, steps);
    const all = [...named.filter(each => each.name !== schedule), ...search ? [{name: 'best', plan: best}] : [], named.find(each => each.name === schedule)]
      .map(each => ({...each, risk: solver.risks(model, each.plan)}));
    const chosen = all[all.length - 1], final = each => each.risk[each.risk.length - 1];
    const law = solver.risks(model, chosen.plan, 'functional');
    const curve = (each, y, style) => ({name: each.name, x: each.plan.marks, y, style});
    draw('risk', [...all.map(each => curve(each, each.risk, each === chosen ? '' : 'other')), curve(chosen, law, 'dashed')], {logX: true, logY: true});
    const stairs = ({plan: {marks, rates}, name}, style) => ({name, style, x: rates.flatMap((_, k) => [marks[k], marks[k + 1]]), y: rates.flatMap(rate => [rate, rate])});
    draw('rates', all.map(each => stairs(each, each === chosen || each.name === 'best' ? '' : 'other')), {});
    document.getElementById('risk-key').innerHTML = all.map(each =>
      `<li><i style="border-color:var(${COLOURS[each.name]})"></i>${each.name} ${short(final(each), 3)}</li>`).reverse().join('');
    const said = `After ${short(steps)} steps: ${schedule} ${short(final(chosen), 3)}; functional law (dashed) ${short(law[law.length - 1], 3)}`;
    document.getElementById('risk-said').textContent =
      search ? `${said}; best schedule ${short(final(all[all.length - 2]), 3)}.` : `${said}.`;
    if (!search) return;
    const falls = best.marks[best.rates.findIndex((_, k) => best.rates.slice(k).every(rate => rate < 0.99 * peak))];
    document.getElementById('rates-said').textContent = falls === undefined
      ? 'The best schedule stays at the peak.' : `The best schedule leaves the peak for good after ${short(100 * falls / steps)} % of the steps.`;
  }

  // Losses at once, the search for the best schedule when the hand rests.
  let waiting = 0, resting = 0;
  const follow = () => {
    cancelAnimationFrame(waiting); clearTimeout(resting);
    waiting = requestAnimationFrame(() => show(false));
    resting = setTimeout(() => show(true), 200);
  };
  form.addEventListener('input', follow);
  let wide = innerWidth;  // a phone changes the height whenever it is scrolled
  addEventListener('resize', () => { if (innerWidth !== wide) { wide = innerWidth; follow(); } });
  show(true);
})();
