package ledger_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/csvimport"
	"stepback/csvimport/ledger"
)

var file = csvimport.Source{Bucket: "b", Key: "k", ETag: "e"}

func TestEntries(t *testing.T) {
	t.Parallel()
	if e := (ledger.Entry{}); !e.Open() {
		t.Error("the zero entry is not open")
	}
	mine := ledger.Counted(7, 42)
	for _, test := range []struct {
		run, fingerprint int64
		entry            ledger.Entry
		want             csvimport.Outcome
		failure          string
	}{
		{7, 42, mine, csvimport.Applied, ""},
		{8, 42, mine, csvimport.AlreadyApplied, ""},
		{0, 42, mine, csvimport.AlreadyApplied, ""},
		{0, 42, ledger.Counted(0, 42), csvimport.AlreadyApplied, ""},
		{7, 43, mine, "", "InvalidInput: row 5 of s3://b/k"},
		{7, 42, ledger.Closed(), "", "RetryNotWorthwhile: row 5 of s3://b/k"},
	} {
		got := test.entry.Repeat(test.run, file, 5, test.fingerprint)
		if got.Outcome != test.want || (got.Err == nil) != (test.failure == "") ||
			got.Err != nil && !strings.HasPrefix(got.Err.Error(), test.failure) {
			t.Errorf("%+v is answered %+v", test, got)
		}
	}
	if got := ledger.Closed().Outcome(7); got != csvimport.DeadLettered {
		t.Errorf("a closed row is %s", got)
	}
}

// TestStoredForm checks the bytes of version 1, which databases contain.
func TestStoredForm(t *testing.T) {
	t.Parallel()
	var b ledger.Block
	if got := b.Append(nil); !bytes.Equal(got, []byte{1}) {
		t.Errorf("an open block is % x", got)
	}
	b[1], b[2] = ledger.Counted(3, 0x1_0000_0002), ledger.Counted(3, -1)
	b[3], b[4] = ledger.Closed(), ledger.Counted(0, 5)
	want := []byte{1, 1, 0, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 5, 0, 0, 0}
	if got := b.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("the block is stored as % x, want % x", got, want)
	}
	for i := range b {
		b[i] = ledger.Counted(1, int64(i))
	}
	if got := len(b.Append(nil)); got != 4+4*ledger.BlockRows {
		t.Errorf("a block that one run has counted takes %d bytes", got)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b ledger.Block
		for at := 0; at < ledger.BlockRows; {
			n := rapid.IntRange(1, ledger.BlockRows-at).Draw(t, "n")
			e := rapid.SampledFrom([]ledger.Entry{{}, ledger.Closed(), ledger.Counted(0, 9), ledger.Counted(1, 8),
				ledger.Counted(1<<62, -7)}).Draw(t, "entry")
			for i := range n {
				b[at+i] = e
			}
			at += n
		}
		got, err := ledger.Decode(b.Append(nil))
		if err != nil || *got != b {
			t.Fatalf("read back: %v, %v", got, err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{1, 2, 5, 3, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{1, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ledger.Decode(data)
		if err != nil {
			return
		}
		again, err := ledger.Decode(b.Append(nil))
		if err != nil || *again != *b {
			t.Errorf("% x: %v", data, err)
		}
	})
}
