// Package rdsroots holds the certificate authorities of Amazon RDS and Aurora, so that a connection can verify the
// server it talks to. They are Amazon's own and stand in no operating system's list.
//
// It never fetches anything: a new region's authority arrives with a new version of roots.pem, from
// https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem.
package rdsroots

import (
	"crypto/x509"
	_ "embed" // for roots.pem
)

//go:embed roots.pem
var roots []byte

// Pool is the system's certificate authorities and those of Amazon RDS.
func Pool() *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil { // a system without a list
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(roots)
	return pool
}
