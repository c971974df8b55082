package database

import (
	"crypto/x509"
	_ "embed" // for roots.pem
)

// rdsRoots are the certificate authorities of Amazon RDS and Aurora. They are Amazon's own and stand in no operating
// system's list; a new region's comes with a new version of roots.pem, from
// https://truststore.pki.rds.amazonaws.com/global/global-bundle.pem.
//
//go:embed roots.pem
var rdsRoots []byte

// trusted are the system's certificate authorities and those of Amazon RDS.
func trusted() *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil { // a system without a list
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(rdsRoots)
	return pool
}
