//go:build !lean

package database

import (
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
	"time"
)

// TestRoots parses every certificate, because the pool silently omits an invalid one.
func TestRoots(t *testing.T) {
	t.Parallel()
	until := time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)
	count := 0
	for block, rest := pem.Decode(rdsRoots); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if !c.IsCA || !strings.HasPrefix(c.Subject.CommonName, "Amazon RDS ") || c.NotAfter.Before(until) {
			t.Errorf("%s, until %s, CA %v", c.Subject.CommonName, c.NotAfter, c.IsCA)
		}
		count++
	}
	if want := strings.Count(string(rdsRoots), "BEGIN CERTIFICATE"); count != want || count < 80 {
		t.Errorf("%d certificates of %d", count, want)
	}
	if trusted() == nil {
		t.Error("no pool")
	}
}
