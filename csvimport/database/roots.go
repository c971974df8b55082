//go:build !lean

package database

import (
	"crypto/x509"
	_ "embed" // for roots.pem
)

// rdsRoots are the certificate authorities of Amazon RDS and Aurora. They are Amazon's own, and no operating system
// lists them. A new region needs a new version of roots.pem, from
// https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem.
//
//go:embed roots.pem
var rdsRoots []byte

// trusted returns the system's certificate authorities and those of Amazon RDS.
func trusted() *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil { // the system has no list
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(rdsRoots)
	return pool
}
