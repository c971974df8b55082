package sample_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"stepback/csvimport/sample"
)

func ExampleWrite() {
	_ = sample.Write(os.Stdout, sample.Options{Rows: 3, Seed: 1})
	// Output:
	// user_id,login_count,post_count
	// user0000001,38,3
	// user0000001,28,12
	// user0000001,5,13
}

func TestSameSeedSameBytes(t *testing.T) {
	t.Parallel()
	var a, b, c bytes.Buffer
	for _, f := range []struct {
		to   *bytes.Buffer
		seed uint64
	}{{&a, 7}, {&b, 7}, {&c, 8}} {
		if err := sample.Write(f.to, sample.Options{Rows: 1000, Seed: f.seed, Invalid: 0.1}); err != nil {
			t.Fatal(err)
		}
	}
	if a.String() != b.String() || a.String() == c.String() {
		t.Error("the seed does not decide the file")
	}
	if n := strings.Count(a.String(), "\n"); n != 1001 {
		t.Errorf("%d lines, want 1001", n)
	}
	bad := strings.Count(a.String(), "\n,") + strings.Count(a.String(), ",many,")
	if bad < 60 || bad > 140 {
		t.Errorf("%d invalid rows of 1000 at 10 %%", bad)
	}
}

func TestJapaneseHeader(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := sample.Write(&b, sample.Options{Japanese: true}); err != nil || b.String() != "ユーザーID,ログイン回数,投稿回数\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
