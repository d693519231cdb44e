// Filters the claims of the report; without this script every claim is shown and the form stays hidden.
(() => {
  'use strict';
  const form = document.getElementById('filter');
  const claims = [...document.querySelectorAll('article[data-verdict]')];
  if (!form || !claims.length) return;
  const count = document.getElementById('shown');
  const texts = claims.map(claim => claim.textContent.toLowerCase());
  const apply = () => {
    const {verdict, role, words} = form.elements;
    const wanted = words.value.toLowerCase().split(/\s+/);
    claims.forEach((claim, at) => {
      claim.hidden = !((!verdict.value || claim.dataset.verdict === verdict.value)
        && (!role.value || claim.dataset.role === role.value)
        && wanted.every(word => texts[at].includes(word)));
    });
    count.textContent = `${claims.filter(claim => !claim.hidden).length} of ${claims.length} claims shown`;
  };
  form.hidden = false;
  form.addEventListener('input', apply);
  form.addEventListener('submit', event => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(apply));
  addEventListener('hashchange', () => { // a link to a claim that the filter hides shows all claims again
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.hidden) {
      form.reset();
      apply();
      target.scrollIntoView();
    }
  });
  apply();
})();
