// Package eventpattern is the pattern language of Amazon EventBridge, which SNS's filter policies and Pipes share:
// exact values, prefix, suffix, wildcard, equals-ignore-case, anything-but, numeric, cidr, exists, and $or at any
// level.
//
// Compile reads a pattern once and refuses what AWS refuses, in its words and with the place. A Pattern then matches
// any number of events, which are parsed JSON; it is safe for concurrent use and does not change.
//
// The language is that of AWS's open source library event-ruler, which the services run:
//
//   - A pattern is an object. Its arrays list the values that a field may have; one of them has to match. All fields
//     have to match, and those that a pattern does not name are free. Names with dots and nested objects are the same.
//   - An event's field has one value, or with arrays several, one of which has to match. Fields of objects in an array
//     have to match within one and the same element.
//   - Only leaves have values: neither an object nor an empty array exists.
//   - Numbers are compared as numbers from -5e9 to 5e9 with up to six digits behind the decimal point; other numbers
//     match their own text only.
//   - A field that is named twice counts as it is written last.
//
// The package is pure. It knows neither buses nor subscriptions, and it does not judge how complex a wildcard is, for
// which AWS has a limit that it does not publish.
package eventpattern
