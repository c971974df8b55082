// Package eventpattern implements the pattern language of Amazon EventBridge, which is also used by SNS's filter
// policies and by Pipes: exact values, prefix, suffix, wildcard, equals-ignore-case, anything-but, numeric, cidr,
// exists, and $or at any level.
//
// Compile parses a pattern once and rejects what AWS rejects, with AWS's message and position. The Pattern then
// matches any number of events, which are parsed JSON; it is immutable and safe for concurrent use.
//
// The language is that of AWS's open source library event-ruler, which the services use:
//
//   - A pattern is an object. Its arrays list the values that a field may have; one of them has to match. All fields
//     have to match; fields that a pattern does not name are ignored. Names with dots are equivalent to nested objects.
//   - An event's field has one value, or, with arrays, several, one of which has to match. Fields of objects in an
//     array have to match within one and the same element.
//   - Only leaves have values: neither an object nor an empty array exists.
//   - Numbers are compared as numbers from -5e9 to 5e9 with up to six digits after the decimal point; other numbers
//     match only their own text.
//   - If a field is named twice, the last one counts.
//
// The package is pure. It knows neither buses nor subscriptions. AWS has an unpublished limit for the complexity of
// wildcards; here it is one for each wildcard, and not for all of a pattern together.
package eventpattern
