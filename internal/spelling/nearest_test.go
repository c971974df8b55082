package spelling_test

import (
	"testing"

	"stepback/internal/spelling"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"Reserve", "ChargeCard", "DatabaseConnectionError"}
	for word, want := range map[string]string{
		"Resreve": "Reserve", "chargecard": "ChargeCard", "DatabaseConectionError": "DatabaseConnectionError",
		"OutOfStock": "", "": "",
	} {
		if got := spelling.Nearest(word, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}
