// Package ecma matches ECMAScript regular expressions (without the flags u and v) on UTF-16 code units: look-ahead and
// look-behind, backreferences, named groups, lazy quantifiers, the flags i and m, and the legacy forms of Annex B.
//
// It backtracks as the specification describes, so a match may take exponential time: the caller bounds the number of
// steps.
package ecma
