package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"stepback/cmd/stepback/terminal"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help explains how to install the script.
func (completionCmd) Help() string {
	return `Examples:
  source <(stepback completion bash)         in ~/.bashrc
  source <(stepback completion zsh)          in ~/.zshrc, below compinit, or in a file _stepback of a directory in fpath
  stepback completion fish > ~/.config/fish/completions/stepback.fish`
}

// Run writes the script.
func (c *completionCmd) Run(_ context.Context, std terminal.Streams) error {
	parser, err := parserOf(new(commandLine))
	if err != nil {
		return err
	}
	root := parser.Model.Node
	switch c.Shell {
	case "fish":
		completeFish(std.Out, root, nil)
	case "zsh":
		// The first line makes compinit load a file _stepback of fpath at the first completion. The file then is the
		// body of the function _stepback.
		fmt.Fprintln(std.Out, "#compdef stepback\n(( $+functions[_bash_complete] )) || { autoload -U +X bashcompinit && bashcompinit }")
		completeBash(std.Out, "_stepback_words", root)
		fmt.Fprint(std.Out, `if [[ $funcstack[1] == _stepback ]]; then
  _bash_complete -o filenames -F _stepback_words
else
  complete -o filenames -F _stepback_words stepback
fi
`)
	default:
		completeBash(std.Out, "_stepback", root)
		fmt.Fprintln(std.Out, "complete -o filenames -F _stepback stepback")
	}
	return nil
}

// completeBash writes a completion function for bash, which zsh can run, too, under a name. The function follows the
// verbs on the line, and offers what may follow the last one.
func completeBash(w io.Writer, name string, root *kong.Node) {
	fmt.Fprint(w, name+`() {
  local cur="${COMP_WORDS[COMP_CWORD]}" verb= word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    case "$verb $word" in
`)
	eachVerb(root, nil, func(n *kong.Node, path []string) {
		if len(path) > 0 {
			fmt.Fprintf(w, "      \"%s %s\") verb=\"$verb $word\" ;;\n", spaced(path[:len(path)-1]), n.Name)
		}
	})
	fmt.Fprint(w, `    esac
  done
  local offers=
  case "$verb" in
`)
	eachVerb(root, nil, func(n *kong.Node, path []string) {
		fmt.Fprintf(w, "    \"%s\") offers=\"%s\" ;;\n", spaced(path), strings.Join(offers(n), " "))
	})
	fmt.Fprint(w, `  esac
  local names=
  case "$verb" in
`)
	eachVerb(root, nil, func(n *kong.Node, path []string) {
		if of := argumentKind(n); of != "" {
			fmt.Fprintf(w, "    \"%s\") names=%s ;;\n", spaced(path), of)
		}
	})
	fmt.Fprint(w, `  esac
  if [[ -n $names && $cur != -* ]]; then offers="$offers $(stepback names $names 2>/dev/null)"; fi
  COMPREPLY=($(compgen -W "$offers" -- "$cur"))
  if [[ ${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then COMPREPLY=($(compgen -f -- "$cur")); fi
}
`)
}

// spaced returns the verbs of a path, each preceded by a space.
func spaced(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return " " + strings.Join(path, " ")
}

// eachVerb calls do for a node and all nodes below it, each with its path.
func eachVerb(n *kong.Node, path []string, do func(*kong.Node, []string)) {
	do(n, path)
	for _, c := range n.Children {
		if c.Type == kong.CommandNode && !c.Hidden {
			eachVerb(c, append(path[:len(path):len(path)], c.Name), do)
		}
	}
}

// argumentKind returns the kind of thing that the arguments of a verb name: executions or machines of the data
// directory; empty if neither.
func argumentKind(n *kong.Node) string {
	for _, p := range n.Positional {
		switch p.Name {
		case "execution", "executions":
			return "executions"
		case "machine":
			return "machines"
		}
	}
	return ""
}

// enumOf returns the enum values of an argument. Without an enum EnumSlice would return one empty word.
func enumOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return v.EnumSlice()
}

// offers returns the verbs and flags that may follow a node, and the enum values of its arguments.
func offers(n *kong.Node) []string {
	var words []string
	for _, c := range n.Children {
		if c.Type == kong.CommandNode && !c.Hidden {
			words = append(words, c.Name)
		}
	}
	for _, p := range n.Positional {
		words = append(words, enumOf(p)...)
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			words = append(words, "--"+f.Name)
		}
	}
	return words
}

// completeFish writes one line for each verb and flag that may follow a node. Its condition requires that the
// preceding verbs are on the line.
func completeFish(w io.Writer, n *kong.Node, path []string) {
	condition := "__fish_use_subcommand"
	if len(path) > 0 {
		condition = "__fish_seen_subcommand_from " + path[len(path)-1]
	}
	for _, c := range n.Children {
		if c.Type == kong.CommandNode && !c.Hidden {
			fmt.Fprintf(w, "complete -c stepback -n %s -a %s -d %s\n", quoteFish(condition), c.Name, quoteFish(c.Help))
			completeFish(w, c, append(path[:len(path):len(path)], c.Name))
		}
	}
	for _, p := range n.Positional {
		if words := enumOf(p); len(words) > 0 {
			fmt.Fprintf(w, "complete -c stepback -n %s -f -a %s\n", quoteFish(condition),
				quoteFish(strings.Join(words, " ")))
		}
	}
	if of := argumentKind(n); of != "" {
		fmt.Fprintf(w, "complete -c stepback -n %s -f -a %s\n", quoteFish(condition),
			quoteFish("(stepback names "+of+" 2>/dev/null)"))
	}
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		value := " -r"
		if f.IsBool() {
			value = ""
		}
		fmt.Fprintf(w, "complete -c stepback -n %s -l %s%s -d %s\n", quoteFish(condition), f.Name, value,
			quoteFish(f.Help))
	}
}

func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
