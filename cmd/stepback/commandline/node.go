package commandline

import (
	"strings"
)

// Node is a verb, or the program itself, at the top.
type Node struct {
	Name string
	// Help is a line, Detail what the method Help of the verb's struct says.
	Help, Detail string
	// Group is the heading of the verb in the help; empty for the one above it.
	Group  string
	Hidden bool

	Parent   *Node
	Children []*Node
	// Args are the arguments of the verb in their order. A node has arguments or children, not both.
	Args  []*Value
	Flags []*Flag
	// Target points to the struct that the line is read into: with a verb's method to run it.
	Target any

	byDefault *Node // the child that is meant when none is named
}

// path is how the node is called from the top, without the program's name.
func (n *Node) path() string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(n.Parent.path() + " " + n.Name)
}

// fullPath is how the node is called, with the program's name.
func (n *Node) fullPath() string {
	top := n
	for top.Parent != nil {
		top = top.Parent
	}
	return strings.TrimSpace(top.Name + " " + n.path())
}

// flagsByLevel are the flags that a verb takes: of the program, then of each verb down to it.
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

// leaves are the verbs below a node that have none below themselves.
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

// group is the heading of the node, or of the nearest above it that has one.
func (n *Node) group() string {
	if n.Group != "" || n.Parent == nil {
		return n.Group
	}
	return n.Parent.group()
}

// summary is how the node is called: its path, the flags that it must have, its arguments.
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
