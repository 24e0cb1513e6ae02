// The search runs in a worker, and a browser makes no worker for a page that was opened as a file. Then a hidden frame
// takes its place. The theme looks for the name IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      const inner = frame.contentWindow
      const load = source => new Promise((resolve, reject) => {
        const script = inner.document.createElement("script")
        script.src = source
        script.onload = resolve
        script.onerror = reject
        inner.document.body.appendChild(script)
      })
      inner.importScripts = (...sources) => sources.reduce((before, one) => before.then(() => load(one)), Promise.resolve())
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.inner = inner
      this.ready = load(new URL(url, location.href).href)
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })))
    }
    terminate() {}
  }
  window.Worker = window.IFrameWorker
}
