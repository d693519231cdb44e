// In a graph of claims, what the one pointed at rests on and what rests on it stay, the others step back.
(() => {
  'use strict';
  const edges = [...document.querySelectorAll('.edge[data-from]')];
  const nodes = [...document.querySelectorAll('.graph a')];
  const name = node => node.getAttribute('href').split('#')[1];
  const reached = (start, from, to) => {
    const found = new Set([start]);
    for (const each of found) edges.forEach(edge => { if (edge.dataset[from] === each) found.add(edge.dataset[to]); });
    return found;
  };
  const show = start => {
    const after = start ? reached(start, 'from', 'to') : null, before = start ? reached(start, 'to', 'from') : null;
    nodes.forEach(node => node.classList.toggle('far', !!start && !after.has(name(node)) && !before.has(name(node))));
    edges.forEach(edge => edge.classList.toggle('far', !!start
      && !(after.has(edge.dataset.from) && after.has(edge.dataset.to))
      && !(before.has(edge.dataset.from) && before.has(edge.dataset.to))));
  };
  nodes.forEach(node => {
    ['pointerenter', 'focus'].forEach(kind => node.addEventListener(kind, () => show(name(node))));
    ['pointerleave', 'blur'].forEach(kind => node.addEventListener(kind, () => show(null)));
  });
})();
