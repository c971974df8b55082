package terminal

import "testing"

func TestValidateColoursForATerminal(t *testing.T) {
	t.Parallel()
	const plain = "m.json:3:9: warning NO_PATH: x\n  3 | a ^ b\n    |   ^^\n"
	const want = "\x1b[1mm.json:3:9: \x1b[33mwarning\x1b[0m NO_PATH: x\n  3 | a ^ b\n    |   \x1b[33m^^\x1b[0m\n"
	if got := Coloured(plain); got != want {
		t.Errorf("got %q", got)
	}
}
