// Package spelling finds the name that a misspelt one was probably meant to be, and writes nouns after numbers. It
// knows no names itself.
package spelling
