package dynamodb_test

import (
	"strconv"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestNothingAcknowledgedIsLost removes the disk under eight clients, keeping only what was synced: every
// acknowledged addition counts, at most one more of each client, and table, indexes and stream agree.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create()
	d, err := b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: sdk.String("things")})
	if err != nil {
		t.Fatal(err)
	}
	const clients = 8
	var mu sync.Mutex
	var answered, asked [clients]int
	stop, enough := make(chan struct{}), make(chan struct{})
	total := 0
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				asked[c]++
				mu.Unlock()
				if _, err := b.UpdateItem(t.Context(), &client.UpdateItemInput{TableName: sdk.String("things"), Key: id("a", c),
					UpdateExpression:          sdk.String("ADD n :one SET color = :red"),
					ExpressionAttributeValues: attrs{":one": n(1), ":red": s("red")}}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				answered[c]++
				if total++; total == 300 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	mu.Lock()
	wanted := answered
	after := b.disk.CrashClone(vfs.CrashCloneCfg{})
	most := asked
	mu.Unlock()
	close(stop)
	all.Wait()
	b.close()
	b.disk = after
	b.open()
	counted := 0
	for c := range clients {
		got, _ := strconv.Atoi(valueText(b.get(id("a", c))["n"]))
		if got < wanted[c] || got > most[c] {
			t.Errorf("client %d has %d, of %d answered and %d asked", c, got, wanted[c], most[c])
		}
		counted += got
	}
	out, err := b.Query(t.Context(), &client.QueryInput{TableName: sdk.String("things"), IndexName: sdk.String("by-color"),
		KeyConditionExpression: sdk.String("color = :red"), ExpressionAttributeValues: attrs{":red": s("red")}})
	if err != nil {
		t.Fatal(err)
	}
	indexed := 0
	for _, i := range out.Items {
		n, _ := strconv.Atoi(valueText(i["n"]))
		indexed += n
	}
	if recorded := len(b.records(d.Table.LatestStreamArn)); indexed != counted || recorded != counted {
		t.Errorf("items count %d, the index %d, the stream %d", counted, indexed, recorded)
	}
	if d, err = b.DescribeTable(t.Context(), &client.DescribeTableInput{TableName: sdk.String("things")}); err != nil ||
		*d.Table.ItemCount != int64(len(out.Items)) {
		t.Errorf("%d items, %d counted, %v", len(out.Items), *d.Table.ItemCount, err)
	}
}
