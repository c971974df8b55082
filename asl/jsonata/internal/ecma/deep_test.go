package ecma_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"stepback/asl/jsonata/internal/ecma"
)

// A recursive pattern always runs out of steps before it runs out of stack.
func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	text := utf16.Encode([]rune(strings.Repeat("ab", 1<<20)))
	for _, pattern := range []string{`^(?:a|b)*$`, `^((((a|b))))*$`, `^(?:(?:(?:a|b){1}){1,2}?)*$`,
		`^(?:(?=(a|b))\1)*$`, `^[^]*(?<=^(?:a|b)*)$`} {
		re, err := ecma.Compile(utf16.Encode([]rune(pattern)), false, false)
		if err != nil {
			t.Fatal(err)
		}
		steps := 100_000_000
		if _, err := re.Match(text, 0, &steps); !errors.Is(err, ecma.ErrSteps) {
			t.Errorf("/%s/: %v", pattern, err)
		}
	}
}
