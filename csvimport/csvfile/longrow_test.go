package csvfile

import (
	"strings"
	"testing"
)

// TestTheRowBehindALongOne tests lines whose end is the last byte of the longest row or next to it: the row after
// them is kept, whatever the line ends with.
func TestTheRowBehindALongOne(t *testing.T) {
	t.Parallel()
	const behind = bufferBytes / len("u3,1,1") // more than the buffer holds, so that the end of the file is not visible
	for _, end := range []string{"\n", "\r\n", "\r"} {
		for length := MaxRowBytes - 2; length <= MaxRowBytes+1; length++ {
			for name, begin := range map[string]string{"unclosed quote": `"`, "plain": ""} {
				long := begin + strings.Repeat("x", length-len(begin))
				text := head + long + end + "u2,1,1" + end + strings.Repeat("u3,1,1"+end, behind)
				got, _, err := rows(t, strings.NewReader(text))
				if err != nil || len(got) != 2+behind {
					t.Fatalf("%s of %d bytes, end %q: %d rows, %v; want %d", name, length, end, len(got), err, 2+behind)
				}
				if !strings.HasPrefix(got[0], "2 !") || got[1] != "3 u2|1|1" {
					t.Errorf("%s of %d bytes, end %q: the rows begin with %q", name, length, end, got[:2])
				}
			}
		}
	}
}
