package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"stepback/outbox"
	"stepback/outbox/sqlitestore"
)

// A message is written in the transaction of the change that it tells of, and sent afterwards.
func Example() {
	if err := placeOrder(context.Background()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// order.placed {"order":17}
	// 1 sent, 0 failed
}

func placeOrder(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "sqlitestore-example-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "shop.db")
	store, err := sqlitestore.Open(ctx, path, sqlitestore.Config{}) // makes the outbox's tables
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	shop, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.Close()) }()

	tx, err := shop.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if _, err := tx.ExecContext(ctx, "CREATE TABLE orders (n INTEGER PRIMARY KEY); INSERT INTO orders VALUES (17)"); err != nil {
		return err
	}
	message := outbox.Message{Topic: "order.placed", Payload: []byte(`{"order":17}`)}
	if err := sqlitestore.Write(ctx, tx, message); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}

	relay, err := outbox.New(outbox.Config{Store: store, Sink: outbox.SinkFunc(
		func(_ context.Context, m *outbox.Message) error {
			fmt.Println(m.Topic, string(m.Payload))
			return nil
		})})
	if err != nil {
		return err
	}
	done, err := relay.Drain(ctx)
	fmt.Printf("%d sent, %d failed\n", done.Sent, done.Failed)
	return err
}
