// Package console serves pages that show what is running: which executions fail or wait for a retry now, why, when
// the next attempt comes and when retries end. Users can act there: start, stop, redrive, retry now.
//
// Pages are server-rendered HTML with SVG pictures, complete without JavaScript; a small script adds keyboard
// shortcuts and live updates. Every page has a shareable address, and returns JSON with ?format=json. The package
// reads and acts through the interfaces that it declares. It does not depend on the engine's internals, stores only
// its recent notices, and makes no network requests.
package console
