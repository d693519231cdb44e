// Browsers start no workers for pages opened from a folder; the search's worker then runs in a frame.
if (location.protocol === 'file:') {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement('iframe');
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow, page = frame.contentDocument;
      const load = source => new Promise((done, failed) => {
        const script = page.createElement('script');
        Object.assign(script, {src: source, onload: done, onerror: failed});
        page.body.append(script);
      });
      inner.postMessage = data => this.dispatchEvent(new MessageEvent('message', {data}));
      inner.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.ready = load(new URL(url, document.baseURI).href);
      this.inner = inner;
      this.frame = frame;
    }
    set onmessage(listener) { this.addEventListener('message', listener); }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent('message', {data})));
    }
    terminate() { this.frame.remove(); }
  };
}
