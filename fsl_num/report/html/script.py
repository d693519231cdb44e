"""The one script of the page: it filters the claims. Without it every claim is shown."""

SCRIPT = """
(function(){
'use strict';
var form=document.getElementById('filter'),claims=[].slice.call(document.querySelectorAll('article[data-verdict]'));
if(!form||!claims.length){return;}
var said=document.getElementById('shown'),texts=claims.map(function(c){return c.textContent.toLowerCase();});
function apply(){
  var v=form.elements.verdict.value,r=form.elements.role.value,w=form.elements.words.value.toLowerCase().split(/\\s+/);
  var count=0;
  claims.forEach(function(c,i){
    var ok=(!v||c.dataset.verdict===v)&&(!r||c.dataset.role===r)&&
      w.every(function(x){return texts[i].indexOf(x)>=0;});
    c.hidden=!ok;count+=ok?1:0;
  });
  said.textContent=count+' of '+claims.length+' claims shown';
}
form.hidden=false;
form.addEventListener('input',apply);
form.addEventListener('submit',function(e){e.preventDefault();});
form.addEventListener('reset',function(){setTimeout(apply,0);});
function reveal(){
  var t=location.hash.length>1&&document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if(t&&t.hidden){form.reset();apply();t.scrollIntoView();}
}
window.addEventListener('hashchange',reveal);
apply();
})();
"""
"""A link to a claim that the filter hides shows all claims again."""
