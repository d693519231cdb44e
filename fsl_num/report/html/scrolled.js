// What is wider than its frame can be scrolled by keyboard, too.
(() => {
  'use strict';
  const reach = () => document.querySelectorAll('.row, .wrong, .right, pre code').forEach(node => {
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0; else node.removeAttribute('tabindex');
  });
  addEventListener('resize', reach);
  document.addEventListener('toggle', reach, true);
  document.fonts.ready.then(reach);
})();
