//go:build unix

package outbox_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver for database/sql

	"stepback/csvimport/postgresstore/postgrestest"
	"stepback/outbox"
	"stepback/outbox/postgresstore"
	"stepback/outbox/sqlitestore"
	"stepback/outbox/webhook"
	"stepback/retry"
)

// The environment variables of the processes that are killed.
const (
	killRole     = "STEPBACK_TEST_OUTBOX_ROLE" // application or relay
	killDatabase = "STEPBACK_TEST_OUTBOX_DATABASE"
	killSink     = "STEPBACK_TEST_OUTBOX_SINK"

	killSecret = "a secret between relay and receiver"
)

// TestMain also runs the processes that are killed.
func TestMain(m *testing.M) {
	role := os.Getenv(killRole)
	if role == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	live := map[string]func(context.Context, string) error{"application": application, "relay": relayProcess}[role]
	if err := live(ctx, os.Getenv(killDatabase)); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, role, err)
		os.Exit(1)
	}
	stop()
	os.Exit(0)
}

// openApplication opens the application's own connections, and returns the function by which it writes to the outbox.
func openApplication(address string) (*sql.DB, func(context.Context, *sql.Tx, ...outbox.Message) error, error) {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		db, err := sql.Open("sqlite",
			"file:"+path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_txlock=immediate")
		return db, func(ctx context.Context, tx *sql.Tx, m ...outbox.Message) error {
			return sqlitestore.Write(ctx, tx, m...)
		}, err
	}
	db, err := sql.Open("pgx", address)
	return db, func(ctx context.Context, tx *sql.Tx, m ...outbox.Message) error {
		return postgresstore.WriteSQL(ctx, tx, m...)
	}, err
}

// application does business until it is killed: each transaction inserts a row and a message that reports it.
func application(ctx context.Context, address string) error {
	db, write, err := openApplication(address)
	if err != nil {
		return err
	}
	defer db.Close()
	for ctx.Err() == nil {
		if err := business(ctx, db, write); err != nil {
			again := time.NewTimer(5 * time.Millisecond) // the database was killed
			select {
			case <-again.C:
			case <-ctx.Done():
			}
		}
	}
	return nil
}

func business(ctx context.Context, db *sql.DB, write func(context.Context, *sql.Tx, ...outbox.Message) error) error {
	var last int
	if err := db.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM business").Scan(&last); err != nil {
		return err
	}
	for n := last + 1; ctx.Err() == nil; n++ {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		key := ""
		if n%3 != 0 {
			key = fmt.Sprint("key", n%7)
		}
		all := []outbox.Message{{Topic: "business", Key: key, Payload: fmt.Appendf(nil, `{"n":%d,"key":%q}`, n, key)}}
		if err = write(ctx, tx, all...); err == nil {
			_, err = tx.ExecContext(ctx, "INSERT INTO business (n, id) VALUES ($1, $2)", n, all[0].ID)
		}
		if err == nil && n%10 == 0 {
			err = errRolledBack // some transactions are rolled back
		}
		if err != nil {
			if rollback := tx.Rollback(); errors.Is(err, errRolledBack) && rollback == nil {
				continue
			}
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return nil
}

var errRolledBack = errors.New("rolled back")

// openKillStore opens the outbox at an address.
func openKillStore(ctx context.Context, address string) (outbox.Store, func() error, error) {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		s, err := sqlitestore.Open(ctx, path, sqlitestore.Config{})
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	s, err := postgresstore.Open(ctx, address, nil)
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// relayProcess runs a relay until it is killed.
func relayProcess(ctx context.Context, address string) error {
	secret, err := webhook.NewSecret(killSecret)
	if err != nil {
		return err
	}
	sink, err := webhook.New(webhook.Config{URL: os.Getenv(killSink), Secrets: []webhook.Secret{secret}})
	if err != nil {
		return err
	}
	var store outbox.Store
	for store == nil { // the database may be dead
		var closing func() error
		if store, closing, err = openKillStore(ctx, address); err == nil {
			defer func() { _ = closing() }()
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	r, err := outbox.New(outbox.Config{
		Store: store, Sink: sink, Lease: 300 * time.Millisecond, Poll: 100 * time.Millisecond,
		Batch: 16, PerKey: 4, Concurrency: 8,
		MaxRetries: 1000, MaxExpiries: 1000, Policy: func(string) retry.Policy {
			return retry.Policy{Interval: 5 * time.Millisecond, Rate: 1, Jitter: retry.JitterFull}
		},
		Rand: soon{rand.New(rand.NewPCG(uint64(os.Getpid()), 0))},
	})
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

// soon draws short waits, even for a database that was killed.
type soon struct{ *rand.Rand }

func (s soon) Uint64() uint64 { return s.Rand.Uint64() >> 6 }

// postOffice is the receiver: it is not killed, and sometimes refuses a message.
type postOffice struct {
	mu       sync.Mutex
	random   *rand.Rand
	ids      map[int]string // for each number, the ID under which it arrived
	last     map[string]int // for each key, the latest number to arrive for the first time
	wrong    []string
	arrivals int
}

func (o *postOffice) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the relay was killed while it sent
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.random.IntN(20) == 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	secret, err := webhook.NewSecret(killSecret)
	if err == nil {
		err = webhook.Verify(r.Header, body, time.Now(), secret)
	}
	var m struct {
		N   int
		Key string
	}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		o.wrong = append(o.wrong, fmt.Sprintf("%s: %v", body, err))
		return
	}
	o.arrivals++
	id := r.Header.Get(webhook.HeaderID)
	if known, ok := o.ids[m.N]; ok {
		if known != id {
			o.wrong = append(o.wrong, fmt.Sprintf("number %d came under %s and under %s", m.N, known, id))
		}
		return
	}
	o.ids[m.N] = id
	if m.Key != "" && o.last[m.Key] > m.N {
		o.wrong = append(o.wrong, fmt.Sprintf("number %d of %s came after %d", m.N, m.Key, o.last[m.Key]))
	}
	o.last[m.Key] = m.N
}

// victims are the processes to kill, by name.
type victims struct {
	t    *testing.T
	env  []string
	live map[string]*exec.Cmd
}

func (v *victims) start(name string) {
	v.t.Helper()
	role, _, _ := strings.Cut(name, " ")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), v.env...), killRole+"="+role)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	v.live[name] = cmd
}

func (v *victims) kill(name string) {
	cmd := v.live[name]
	delete(v.live, name)
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
}

func numberOf(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q, want a number", name, text)
	}
	return n
}

// TestKills kills application, relays and database with SIGKILL at random instants and restarts them. In the end
// every committed message must have arrived, under one ID and in the order of its key, and nothing else.
// STEPBACK_OUTBOX_KILLS sets the number of kills and STEPBACK_OUTBOX_SEED selects the instants; see make outbox-kill.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("processes are started and killed for a while")
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		kills(t, "sqlite:"+filepath.Join(t.TempDir(), "app.db"), nil)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		server := postgrestest.Start(t)
		server.NeedsControl(t)
		kills(t, server.Database(t), server)
	})
}

func kills(t *testing.T, address string, server *postgrestest.Server) {
	t.Helper()
	seed, count := numberOf(t, "STEPBACK_OUTBOX_SEED", 1), numberOf(t, "STEPBACK_OUTBOX_KILLS", 8)
	random := rand.New(rand.NewPCG(seed, 0))
	db, _, err := openApplication(address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(),
		"CREATE TABLE business (n BIGINT PRIMARY KEY, id TEXT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	_, closing, err := openKillStore(t.Context(), address) // creates the tables
	if err != nil {
		t.Fatal(err)
	}
	if err := closing(); err != nil {
		t.Fatal(err)
	}
	office := &postOffice{random: rand.New(rand.NewPCG(seed, 1)), ids: map[int]string{}, last: map[string]int{}}
	receiver := httptest.NewServer(office)
	defer receiver.Close()

	v := &victims{
		t:    t,
		env:  []string{killDatabase + "=" + address, killSink + "=" + receiver.URL},
		live: map[string]*exec.Cmd{},
	}
	defer func() {
		for name := range v.live {
			v.kill(name)
		}
	}()
	names := []string{"application", "relay 1", "relay 2"}
	for _, name := range names {
		v.start(name)
	}
	for range count {
		rest(t, time.Duration(random.IntN(90))*time.Millisecond)
		i := random.IntN(len(names) + 1)
		if i < len(names) {
			v.kill(names[i])
			v.start(names[i])
			continue
		}
		if server == nil {
			continue
		}
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Revive(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for done := map[int]string{}; len(done) == 0; rest(t, 90*time.Millisecond) { // on a slow machine
		if err := readBusiness(t.Context(), db, done); err != nil {
			t.Logf("read the business: %v", err) // the database was killed
		}
	}
	v.kill("application")
	settled(t, db, office)
}

// settled waits until all business has been reported, and compares. It gives up if nothing arrives any more.
func settled(t *testing.T, db *sql.DB, office *postOffice) {
	t.Helper()
	done, before, last := map[int]string{}, 0, time.Now()
	for {
		err := readBusiness(t.Context(), db, done)
		office.mu.Lock()
		arrived := len(office.ids)
		office.mu.Unlock()
		if err == nil && arrived >= len(done) {
			break
		}
		if arrived > before {
			before, last = arrived, time.Now()
		}
		if time.Since(last) > 2*time.Minute { // however many there are and however fast they arrive
			t.Fatalf("%d messages of %d arrived, and then none for two minutes; %v", arrived, len(done), err)
		}
		rest(t, 20*time.Millisecond)
	}
	office.mu.Lock()
	defer office.mu.Unlock()
	for _, wrong := range office.wrong {
		t.Error(wrong)
	}
	for n, id := range office.ids {
		if done[n] != id {
			t.Errorf("number %d came under %s, and was committed under %q", n, id, done[n])
		}
	}
	t.Logf("%d messages, %d arrivals", len(done), office.arrivals)
	if len(done) == 0 {
		t.Error("no business was done")
	}
}

// readBusiness reads which business was committed, and the ID of its message.
func readBusiness(ctx context.Context, db *sql.DB, into map[int]string) error {
	rows, err := db.QueryContext(ctx, "SELECT n, id FROM business")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var id string
		if err := rows.Scan(&n, &id); err != nil {
			return err
		}
		into[n] = id
	}
	return rows.Err()
}

// rest pauses between two kills.
func rest(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}
