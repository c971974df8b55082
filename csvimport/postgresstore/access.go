package postgresstore

import (
	"context"
	"crypto/x509"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Access holds settings that a connection string cannot express. The zero value adds nothing to it.
type Access struct {
	// Password returns the password for a new connection; nil means the connection string's.
	Password func(ctx context.Context) (string, error)
	// Roots are the certificate authorities for verifying a server's certificate, if the connection string requires
	// that; nil means the system's.
	Roots *x509.CertPool
	// Tracer traces each statement and each new connection; nil means none. See pgx.ConnConfig.
	Tracer pgx.QueryTracer
}

// Apply adds the settings to a configuration.
func (a Access) Apply(config *pgxpool.Config) {
	if a.Password != nil {
		config.BeforeConnect = func(ctx context.Context, c *pgx.ConnConfig) error {
			password, err := a.Password(ctx)
			c.Password = password
			return err
		}
	}
	if a.Tracer != nil {
		config.ConnConfig.Tracer = a.Tracer
	}
	if tls := config.ConnConfig.TLSConfig; tls != nil && a.Roots != nil {
		tls.RootCAs = a.Roots
	}
}
