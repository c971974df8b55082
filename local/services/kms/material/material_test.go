package material_test

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"stepback/local/services/kms/material"
)

func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte{7}, 32)
	rapid.Check(t, func(t *rapid.T) {
		about, plaintext := []byte(rapid.String().Draw(t, "about")), rapid.SliceOf(rapid.Byte()).Draw(t, "plaintext")
		context := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "context")
		sealed, err := material.Seal(secret, about, plaintext, context)
		if err != nil {
			t.Fatal(err)
		}
		got, err := material.Open(secret, about, sealed, context)
		if err != nil || !bytes.Equal(got, plaintext) {
			t.Fatalf("got %x, %v", got, err)
		}
		// A changed byte, another context, other additional data and another key are all rejected.
		changed := slices.Clone(sealed)
		changed[rapid.IntRange(0, len(sealed)-1).Draw(t, "at")] ^= 1
		if _, err := material.Open(secret, about, changed, context); !errors.Is(err, material.ErrCiphertext) {
			t.Fatalf("a changed byte: %v", err)
		}
		other := map[string]string{"\x00another": "context"}
		if _, err := material.Open(secret, about, sealed, other); !errors.Is(err, material.ErrCiphertext) {
			t.Fatalf("another context: %v", err)
		}
		_, err = material.Open(secret, append(about, 'x'), sealed, context)
		if !errors.Is(err, material.ErrCiphertext) {
			t.Fatalf("about something else: %v", err)
		}
		_, err = material.Open(bytes.Repeat([]byte{8}, 32), about, sealed, context)
		if !errors.Is(err, material.ErrCiphertext) {
			t.Fatalf("another key: %v", err)
		}
	})
}

// Contexts are distinguished even if their keys and values concatenate to the same text.
func TestContextsAreToldApart(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte{7}, 32)
	sealed, err := material.Seal(secret, nil, []byte("x"), map[string]string{"ab": "c"})
	if err != nil {
		t.Fatal(err)
	}
	for _, context := range []map[string]string{{"a": "bc"}, {"abc": ""}, {"ab": "c", "": ""}, nil} {
		if _, err := material.Open(secret, nil, sealed, context); !errors.Is(err, material.ErrCiphertext) {
			t.Errorf("%v: %v", context, err)
		}
	}
	if _, err := material.Open(secret, nil, []byte("short"), nil); !errors.Is(err, material.ErrCiphertext) {
		t.Errorf("a short one: %v", err)
	}
}

// TestMAC checks test case 2 of RFC 4231.
func TestMAC(t *testing.T) {
	t.Parallel()
	for algorithm, want := range map[string]string{
		"HMAC_SHA_224": "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44",
		"HMAC_SHA_256": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		"HMAC_SHA_384": "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
		"HMAC_SHA_512": "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd" +
			"caeab1a34d4a6b4b636e070a38bce737",
	} {
		got, err := material.MAC([]byte("Jefe"), algorithm, []byte("what do ya want for nothing?"))
		if err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: %x, %v", algorithm, got, err)
		}
	}
	if _, err := material.MAC(nil, "HMAC_MD5", nil); !errors.Is(err, material.ErrUnsupported) {
		t.Errorf("MD5: %v", err)
	}
}

// TestEverySpec generates a key of each spec and uses it with each of its algorithms.
func TestEverySpec(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"RSA_2048", "ECC_NIST_P256", "ECC_NIST_P384", "ECC_NIST_P521", "ECC_NIST_EDWARDS25519"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, err := material.SpecOf(name)
			if err != nil || spec.IsSecret() {
				t.Fatal(spec, err)
			}
			private, err := spec.Generate()
			if err != nil {
				t.Fatal(err)
			}
			public, err := material.Public(private)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := x509.ParsePKIXPublicKey(public); err != nil {
				t.Error(err)
			}
			other, err := spec.Generate()
			if err != nil {
				t.Fatal(err)
			}
			for _, algorithm := range spec.Signing {
				signs(t, private, other, algorithm)
			}
			for _, algorithm := range spec.Encryption {
				sealed, err := material.EncryptRSA(private, algorithm, []byte("message"))
				if err != nil {
					t.Fatal(algorithm, err)
				}
				if got, err := material.DecryptRSA(private, algorithm, sealed); err != nil || string(got) != "message" {
					t.Errorf("%s: %q, %v", algorithm, got, err)
				}
				if _, err := material.DecryptRSA(other, algorithm, sealed); !errors.Is(err, material.ErrCiphertext) {
					t.Errorf("%s with another key: %v", algorithm, err)
				}
			}
			for range spec.Agreement {
				theirs, err := material.Public(other)
				if err != nil {
					t.Fatal(err)
				}
				one, err := material.Agree(private, theirs)
				if err != nil {
					t.Fatal(err)
				}
				if two, err := material.Agree(other, public); err != nil || !bytes.Equal(one, two) || len(one) == 0 {
					t.Errorf("agreed on %x and %x, %v", one, two, err)
				}
			}
		})
	}
	for name, length := range map[string]int{"SYMMETRIC_DEFAULT": 32, "HMAC_224": 28, "HMAC_256": 32, "HMAC_384": 48, "HMAC_512": 64} {
		spec, err := material.SpecOf(name)
		if err != nil {
			t.Fatal(err)
		}
		one, err := spec.Generate()
		if two, _ := spec.Generate(); err != nil || !spec.IsSecret() || len(one) != length || bytes.Equal(one, two) {
			t.Errorf("%s: %x and %x, %v", name, one, two, err)
		}
	}
	if _, err := material.SpecOf("SM2"); !errors.Is(err, material.ErrUnsupported) {
		t.Errorf("SM2: %v", err)
	}
}

// signs checks signatures of a message, and of a digest where the algorithm accepts one.
func signs(t *testing.T, private, other []byte, algorithm string) {
	t.Helper()
	message := []byte("message")
	signature, err := material.Sign(private, algorithm, message, false)
	if err != nil {
		t.Fatal(algorithm, err)
	}
	for _, c := range []struct {
		key, message []byte
		want         bool
	}{{private, message, true}, {other, message, false}, {private, []byte("another"), false}} {
		if ok, err := material.Verify(c.key, algorithm, c.message, signature, false); err != nil || ok != c.want {
			t.Errorf("%s of %q: %t, %v", algorithm, c.message, ok, err)
		}
	}
	if _, err := material.Sign(private, algorithm, []byte("no digest"), true); !errors.Is(err, material.ErrDigest) {
		t.Errorf("%s of a digest that is none: %v", algorithm, err)
	}
}

func FuzzOpen(f *testing.F) {
	secret := bytes.Repeat([]byte{7}, 32)
	sealed, err := material.Seal(secret, []byte("about"), []byte("plaintext"), map[string]string{"a": "b"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, given []byte) {
		got, err := material.Open(secret, []byte("about"), given, map[string]string{"a": "b"})
		if err == nil && string(got) != "plaintext" || err != nil && !errors.Is(err, material.ErrCiphertext) {
			t.Errorf("%x: %q, %v", given, got, err)
		}
	})
}
