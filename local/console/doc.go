// Package console serves pages that show what runs: which executions fail or wait for a retry now, why, when the next
// attempt comes and when it gives up; and takes what a person decides about that: start, stop, redrive, retry now.
//
// Pages are HTML written on the server with pictures in SVG, complete without JavaScript; a small script adds the
// keyboard and live updates. Every page has an address that can be pasted, and answers in JSON with ?format=json. The
// package reads and acts through the interfaces that it declares; it never reaches into the engine, keeps nothing but
// what it was told lately, and asks nothing of the network.
package console
