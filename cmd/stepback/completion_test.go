package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stepback/cmd/stepback/exit"
)

// completed returns what bash offers to complete a line.
func completed(t *testing.T, words ...string) []string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not in the PATH")
	}
	script := stepback(t, "completion", "bash").out
	var line strings.Builder
	for _, w := range words {
		line.WriteString(" '" + w + "'")
	}
	script += "\nCOMP_WORDS=(stepback" + line.String() + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _stepback\n" +
		`printf '%s\n' "${COMPREPLY[@]}"`
	out, err := exec.CommandContext(t.Context(), bash, "--norc", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Fields(string(out))
}

func TestCompletionOffersVerbsAndFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line []string
		want string
	}{
		{[]string{"val"}, "validate"},
		{[]string{"retries", "rev"}, "review"},
		{[]string{"serve", "--obj"}, "--object-created"},
		{[]string{"retries", "review", "--jso"}, "--json"},
		{[]string{"completion", "fi"}, "fish"},
	} {
		if got := completed(t, c.line...); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%v: %v, want %s", c.line, got, c.want)
		}
	}
}

// TestCompletionForZsh checks that zsh finds the script as a file of fpath, as Homebrew installs it, and that it can be
// sourced.
func TestCompletionForZsh(t *testing.T) {
	t.Parallel()
	zsh, err := exec.LookPath("zsh")
	if err != nil {
		t.Skip("zsh is not in the PATH")
	}
	script := stepback(t, "completion", "zsh").out
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "_stepback"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"fpath=(" + dir + " $fpath); autoload -U compinit; compinit -u -D", "_stepback"},
		{"autoload -U compinit; compinit -u -D; source " + dir + "/_stepback", "_bash_complete -o filenames -F _stepback_words"},
	} {
		out, err := exec.CommandContext(t.Context(), zsh, "-f", "-c", c[0]+"; print -r -- $_comps[stepback]").CombinedOutput()
		if got := strings.ReplaceAll(strings.TrimSpace(string(out)), `\`, ""); err != nil || got != c[1] {
			t.Errorf("after %s, zsh completes with %q, %v; want %q", c[0], got, err, c[1])
		}
	}
}

func TestCompletionForFish(t *testing.T) {
	t.Parallel()
	stepback(t, "completion", "fish").ends(t, exit.OK,
		"complete -c stepback -n '__fish_use_subcommand' -a validate -d 'Check state machine definitions as AWS Step Functions would.'\n",
		"complete -c stepback -n '__fish_seen_subcommand_from serve' -l listen -r -d 'Address to listen on",
		"complete -c stepback -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n")
	stepback(t, "completion", "tcsh").complains(t, exit.Usage, `must be one of "bash","zsh","fish" but got "tcsh"`)
}
