package postgresstore_test

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"stepback/outbox"
	"stepback/outbox/postgresstore"
)

// A message is written in the transaction of the change that it tells of, so that neither is there without the other. A
// relay, in this process or another one, sends it.
func ExampleWrite() {
	ctx := context.Background()
	placeOrder := func(pool *pgxpool.Pool) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO orders VALUES (17)"); err != nil {
				return err
			}
			return postgresstore.Write(ctx, tx, outbox.Message{
				Topic: "order.placed", Key: "customer-4", Payload: []byte(`{"order":17}`),
			})
		})
	}
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Print(err)
		return
	}
	defer pool.Close()
	if err := placeOrder(pool); err != nil {
		log.Print(err)
	}
}

// Open makes and migrates the tables, for a relay that sends what applications have written.
func ExampleOpen() {
	ctx := context.Background()
	store, err := postgresstore.Open(ctx, os.Getenv("DATABASE_URL"), nil)
	if err != nil {
		log.Print(err)
		return
	}
	relay, err := outbox.New(outbox.Config{Store: store, Sink: outbox.SinkFunc(
		func(_ context.Context, m *outbox.Message) error {
			log.Print(m.Topic, " ", string(m.Payload))
			return nil
		})})
	if err == nil {
		err = relay.Run(ctx)
	}
	if err := errors.Join(err, store.Close()); err != nil {
		log.Print(err)
	}
}
