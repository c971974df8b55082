package commandline

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// check returns an error if the parsed line lacks something or has too much of it.
func (l *Line) check() error {
	for _, e := range l.path {
		if e.node == nil {
			continue
		}
		for _, v := range e.node.values() {
			if !v.Required || v.hasDefault || slices.ContainsFunc(v.envs, isSet) {
				if err := v.checkEnum(v.target); err != nil {
					return err
				}
			}
		}
	}
	for _, e := range l.path {
		var err error
		if e.node != nil {
			err = e.node.checkRequired()
		} else {
			err = e.value.checkEnum(e.value.target)
		}
		if err != nil {
			return err
		}
	}
	last := l.path[0].node
	if l.Verb != nil {
		last = l.Verb
	}
	if err := last.checkComplete(); err != nil {
		return err
	}
	for _, e := range l.path {
		if e.node == nil {
			continue
		}
		if err := e.node.checkExclusive(); err != nil {
			return err
		}
	}
	return nil
}

func isSet(env string) bool {
	_, ok := os.LookupEnv(env)
	return ok
}

// checkEnum rejects a value that is not in the enum.
func (v *Value) checkEnum(target reflect.Value) error {
	switch {
	case v.Enum == nil:
		return nil
	case target.Kind() == reflect.Slice:
		for i := range target.Len() {
			if err := v.checkEnum(target.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case slices.Contains(v.Enum, fmt.Sprint(target.Interface())):
		return nil
	}
	words := make([]string, len(v.Enum))
	for i, w := range v.Enum {
		words[i] = strconv.Quote(w)
	}
	return fmt.Errorf("%s must be one of %s but got %q", v.called(), strings.Join(words, ","), fmt.Sprint(target.Interface()))
}

// checkRequired returns an error that names the missing required flags.
func (n *Node) checkRequired() error {
	var missing []string
	for _, f := range n.Flags {
		if f.Required && !f.set {
			missing = append(missing, f.summary())
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
}

// checkComplete returns an error that names the arguments or verbs missing after the last verb.
func (n *Node) checkComplete() error {
	var missing, args []string
	for _, a := range n.Args {
		if a.Required && !a.set {
			args = append(args, a.summary())
		}
	}
	if len(args) > 0 {
		missing = append(missing, strconv.Quote(strings.Join(args, " ")))
	}
	for _, c := range n.Children {
		if !c.Hidden {
			missing = append(missing, strconv.Quote(c.Name))
		}
	}
	const shown = 5
	switch {
	case len(missing) == 0:
		return nil
	case len(missing) == 1:
		return fmt.Errorf("expected %s", missing[0])
	case len(missing) > shown:
		missing = append(missing[:shown], "...")
	}
	return fmt.Errorf("expected one of %s", strings.Join(missing, ", "))
}

// checkExclusive rejects two flags that are mutually exclusive.
func (n *Node) checkExclusive() error {
	seen := map[string]*Flag{}
	for _, f := range n.Flags {
		if !f.set {
			continue
		}
		for _, x := range f.xor {
			if seen[x] != nil {
				return fmt.Errorf("--%s and --%s can't be used together", seen[x].Name, f.Name)
			}
			seen[x] = f
		}
	}
	return nil
}
