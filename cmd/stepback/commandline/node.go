package commandline

import (
	"strings"
)

// Node is a verb, or at the top the program itself.
type Node struct {
	Name string
	// Help is one line; Detail is the result of the Help method of the verb's struct.
	Help, Detail string
	// Group is the heading of the verb in the help; empty means its parent's.
	Group  string
	Hidden bool

	Parent   *Node
	Children []*Node
	// Args are the arguments of the verb in order. A node has arguments or children, not both.
	Args  []*Value
	Flags []*Flag
	// Target points to the struct into which the line is parsed; for a verb, it has the method that runs it.
	Target any

	byDefault *Node // the child used if none is named
}

// path returns the names from the top to the node, without the program's name.
func (n *Node) path() string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(n.Parent.path() + " " + n.Name)
}

// fullPath returns the names from the top to the node, with the program's name.
func (n *Node) fullPath() string {
	top := n
	for top.Parent != nil {
		top = top.Parent
	}
	return strings.TrimSpace(top.Name + " " + n.path())
}

// flagsByLevel returns the flags that a verb accepts: the program's, then those of each verb down to it.
func (n *Node) flagsByLevel(hidden bool) [][]*Flag {
	var levels [][]*Flag
	if n.Parent != nil {
		levels = n.Parent.flagsByLevel(hidden)
	}
	var own []*Flag
	for _, f := range n.Flags {
		if hidden || !f.Hidden {
			own = append(own, f)
		}
	}
	if len(own) > 0 {
		levels = append(levels, own)
	}
	return levels
}

// leaves returns the verbs below a node that have no verbs below them.
func (n *Node) leaves() []*Node {
	var found []*Node
	for _, c := range n.Children {
		switch {
		case c.Hidden:
		case len(c.Children) == 0:
			found = append(found, c)
		default:
			found = append(found, c.leaves()...)
		}
	}
	return found
}

// group returns the heading of the node, or of its nearest ancestor that has one.
func (n *Node) group() string {
	if n.Group != "" || n.Parent == nil {
		return n.Group
	}
	return n.Parent.group()
}

// summary returns the usage of the node: its path, its required flags and its arguments.
func (n *Node) summary() string {
	words := []string{n.path()}
	for _, level := range n.flagsByLevel(false) {
		for _, f := range level {
			if f.Required {
				words = append(words, f.summary())
			}
		}
	}
	optional := 0
	for _, a := range n.Args {
		s := a.summary()
		if a.optional {
			optional++
			s = strings.TrimRight(s, "]")
		}
		words = append(words, s)
	}
	words[len(words)-1] += strings.Repeat("]", optional)
	if len(n.Args) == 0 && len(n.Children) > 0 {
		words = append(words, "<command>")
	}
	flags := n.Flags
	if n.Parent != nil {
		flags = append(flags[:len(flags):len(flags)], n.Parent.Flags...)
	}
	for _, f := range flags {
		if !f.help && !f.Required {
			words = append(words, "[flags]")
			break
		}
	}
	return strings.Join(words, " ")
}
