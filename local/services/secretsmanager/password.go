package secretsmanager

import (
	"context"
	"crypto/rand"
	"math/big"
	"strings"

	"stepback/aws"
)

const (
	lower       = "abcdefghijklmnopqrstuvwxyz"
	upper       = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits      = "0123456789"
	punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	alphabet    = lower + upper + digits
)

type getPassword struct {
	Length        int    `json:"PasswordLength"`
	Exclude       string `json:"ExcludeCharacters"`
	NoNumbers     bool   `json:"ExcludeNumbers"`
	NoPunctuation bool   `json:"ExcludePunctuation"`
	NoUpper       bool   `json:"ExcludeUppercase"`
	NoLower       bool   `json:"ExcludeLowercase"`
	Space         bool   `json:"IncludeSpace"`
	Each          *bool  `json:"RequireEachIncludedType"`
}

type gottenPassword struct {
	Password string `json:"RandomPassword"`
}

func getRandomPassword(_ context.Context, _ aws.Scope, in *getPassword) (*gottenPassword, error) {
	const usual = 32
	if in.Length == 0 {
		in.Length = usual
	}
	var kinds []string
	for _, kind := range []struct {
		characters string
		out        bool
	}{{lower, in.NoLower}, {upper, in.NoUpper}, {digits, in.NoNumbers}, {punctuation, in.NoPunctuation}, {" ", !in.Space}} {
		left := strings.Map(func(r rune) rune {
			if strings.ContainsRune(in.Exclude, r) {
				return -1
			}
			return r
		}, kind.characters)
		if !kind.out && left != "" {
			kinds = append(kinds, left)
		}
	}
	if len(kinds) == 0 {
		return nil, invalid("No valid characters left for the password: everything is excluded.")
	}
	var drawn []byte
	if in.Each == nil || *in.Each {
		if in.Length < len(kinds) {
			return nil, invalid("The password length is too short for the required types of characters.")
		}
		for _, kind := range kinds {
			drawn = append(drawn, password(kind, 1)...)
		}
	}
	drawn = append(drawn, password(strings.Join(kinds, ""), in.Length-len(drawn))...)
	for i := len(drawn) - 1; i > 0; i-- { // shuffle, so that positions do not reveal the kinds of characters
		j := draw(i + 1)
		drawn[i], drawn[j] = drawn[j], drawn[i]
	}
	return &gottenPassword{string(drawn)}, nil
}

// password returns a cryptographically random string of the given characters.
func password(characters string, length int) string {
	b := make([]byte, length)
	for i := range b {
		b[i] = characters[draw(len(characters))]
	}
	return string(b)
}

// draw returns a random number from 0 to below-1.
func draw(below int) int {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(below)))
	if err != nil {
		panic(err) // never happens
	}
	return int(n.Int64())
}
