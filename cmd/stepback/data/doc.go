// Package data implements the verbs that check, compact, repair and export the journal of a data directory.
package data
