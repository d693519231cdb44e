// Filters and ranks the claims of the report; without it every claim is shown.
(() => {
  'use strict';
  const form = document.getElementById('filter');
  const claims = [...document.querySelectorAll('article[data-verdict]')];
  if (!form || !claims.length) return;
  const count = document.getElementById('shown');
  const ranked = document.getElementById('ranked');
  const headings = [...document.querySelectorAll('h3.section')];
  // A word counts most in the name and place of a statement of the paper itself (it has the one name of its place, as
  // what is said of it has not), then in a title, then where a claim stands, then anywhere.
  const places = claim => ['.title', '.where', null].map(
    place => (place ? claim.querySelector(place) : claim).textContent.toLowerCase());
  const texts = claims.map(places);
  const named = claims.map(claim => claim.querySelectorAll('.where code').length === 1);
  const score = (parts, itself, words) => words.reduce((sum, word) => {
    const at = parts.findIndex(part => part.includes(word));
    return sum + Math.max(at < 0 ? 0 : [9, 4, 1][at], itself && parts[1].includes(word) ? 10 : 0);
  }, 0);
  const MOST = 8;
  const apply = () => {
    const {verdict, role, words} = form.elements;
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const allowed = claims.map(claim => (!verdict.value || claim.dataset.verdict === verdict.value)
      && (!role.value || claim.dataset.role === role.value));
    const all = texts.map((parts, at) => allowed[at] && wanted.every(word => parts[2].includes(word)));
    const any = texts.map((parts, at) => allowed[at] && wanted.some(word => parts[2].includes(word)));
    const found = all.includes(true) ? all : any;
    claims.forEach((claim, at) => { claim.hidden = !found[at]; });
    headings.forEach(heading => {
      let next = heading.nextElementSibling;
      while (next && next.tagName === 'ARTICLE' && next.hidden) next = next.nextElementSibling;
      heading.hidden = !next || next.tagName !== 'ARTICLE';
    });
    count.textContent = `${found.filter(Boolean).length} of ${claims.length} claims shown`;
    const best = claims.map((claim, at) => [score(texts[at], named[at], wanted), at])
      .filter(([points, at]) => points && found[at]).sort((one, other) => other[0] - one[0] || one[1] - other[1]);
    ranked.replaceChildren(...best.slice(0, MOST).map(([, at]) => {
      const item = document.createElement('li'), link = document.createElement('a');
      link.href = `#${claims[at].id}`;
      link.textContent = claims[at].querySelector('.title > :first-child').textContent;
      item.append(link);
      return item;
    }));
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
