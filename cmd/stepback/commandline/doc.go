// Package commandline reads a command line into a struct whose tags say which verbs, flags and arguments there are, and
// writes their help. Of the tags that this program has it makes what kong makes of them, in kong's words; tests compare
// the two. It exists because kong calls methods by name, for which the linker keeps every exported method of a program
// (docs/decisions/046-command-line.md).
//
// A field is a verb when it is a struct with the tag cmd, an argument when it has the tag arg, and otherwise a flag.
// The fields of an embedded struct are fields of the struct that embeds it. The tags:
//
//	cmd          the field is a verb; a method Help() string says more than help
//	arg          the field is an argument; it must be given unless optional or default stands beside
//	optional     the argument may be missing
//	required     the flag must be given, on the line or in the environment
//	name         instead of the field's name in lower case, with dashes between its words
//	help         ${enum} and ${default} stand for those, $$ for a dollar sign
//	placeholder  what stands for a value in the help of a flag
//	default      of a value that is not given; of a verb, withargs: it is meant where no verb is named
//	env          names of variables, with commas, of which the first that is set is the default
//	enum         the values that may be given, with commas
//	type         path: made absolute, - stays; existingfile, existingdir: such a path, of a file or directory
//	short        a letter for the flag behind a single dash
//	sep          between the elements of a slice, instead of a comma; none: an element is given each time
//	xor          at most one of the flags with this word may be given
//	group        the heading under which the help lists the verb or flag
//	hidden       the help leaves it out
//
// A field is a string, bool, int, int64, uint64, float64, time.Duration or encoding.TextUnmarshaler, a pointer to one,
// a slice of them, or a map of strings.
//
// The package never runs a verb, and never writes to anything that it is not given.
package commandline
