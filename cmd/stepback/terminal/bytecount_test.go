package terminal

import "testing"

func TestByteCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ByteCount{"0": 0, "104857600": 104_857_600, "1k": 1000, "500KB": 500_000, "200MB": 200_000_000,
		"2GiB": 2 << 30, "3gi": 3 << 30, "64Ki": 65_536, "7 B": 7} {
		var c ByteCount
		if err := c.UnmarshalText([]byte(text)); err != nil || c != want {
			t.Errorf("%s: %d, %v; want %d", text, c, err, want)
		}
	}
	for _, text := range []string{"", "B", "k", "-1", "1.5M", "1T", "9999999999G", "1kk"} {
		if err := new(ByteCount).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
