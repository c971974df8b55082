// Package lazyregexp compiles regular expressions when they are first used. A package's variables are initialized
// whenever a program starts, although most programs use few of its expressions.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first used. Its methods are those of regexp.Regexp. It is
// safe for concurrent use.
type Regexp struct {
	compiled func() *regexp.Regexp
}

// New returns a regular expression with a pattern in the syntax of package regexp. An invalid pattern panics when the
// expression is first used, so every expression needs a test that uses it.
func New(pattern string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
}

// MatchString reports whether s contains a match.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString returns the leftmost match in s; "" if there is none, or an empty one.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex returns the location of the leftmost match in s, or nil if there is none.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch returns the leftmost match in s and its submatches, or nil if there is none.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex returns the locations of the leftmost match in s and of its submatches, or nil if there is
// none.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindSubmatch returns the leftmost match in b and its submatches, or nil if there is none.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.compiled().FindSubmatch(b) }

// FindAllString returns the first n matches in s; all if n is negative.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringSubmatch returns the first n matches in s with their submatches; all if n is negative.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex returns the locations of the first n matches in s and of their submatches; all if n is
// negative.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// FindAllSubmatchIndex returns the locations of the first n matches in b and of their submatches; all if n is negative.
func (r *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return r.compiled().FindAllSubmatchIndex(b, n)
}

// ReplaceAllString replaces the matches in s by a text, in which $1 stands for the first submatch.
func (r *Regexp) ReplaceAllString(s, by string) string { return r.compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc replaces each match in s by what the function returns for it.
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, by)
}

// Split returns at most n texts of s between the matches; all if n is negative.
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }
