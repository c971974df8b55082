package postgresstore

import (
	"context"
	"crypto/x509"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Access is what a connection string cannot say. The zero value adds nothing to it.
type Access struct {
	// Password gives the password for one new connection; nil means that of the connection string.
	Password func(ctx context.Context) (string, error)
	// Roots are the certificate authorities that a server's certificate is verified against where the connection string
	// asks for that; nil means the system's.
	Roots *x509.CertPool
	// Tracer hears of each statement and each new connection; nil for none. See pgx.ConnConfig.
	Tracer pgx.QueryTracer
}

// Apply adds it to a configuration.
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
