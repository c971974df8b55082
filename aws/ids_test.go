package aws_test

import (
	"fmt"
	"regexp"
	"testing"

	"stepback/aws"
)

func ExampleUUID() {
	fmt.Println(aws.UUID(0x0123456789ABCDEF, 0xFEDCBA9876543210))
	// Output: 01234567-89ab-4def-bedc-ba9876543210
}

func ExampleDrawUUID() {
	random := aws.Random{Seed: 7}
	fmt.Println(aws.DrawUUID(random.Uint64))
	// Output: d70d3259-e4e1-4b63-9c66-3cf4d73c4c04
}

func TestNewID(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := aws.NewID()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("%s, seen %v", id, seen[id])
		}
		seen[id] = true
	}
}

// Random produces the first outputs of the reference implementation for the seed 1234567.
func TestRandom(t *testing.T) {
	t.Parallel()
	r := aws.Random{Seed: 1234567}
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := r.Uint64(); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}
