package s3_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"stepback/aws/objects"
	"stepback/internal/objectevent"
	"stepback/local/services/s3"
)

func Example() {
	dir, err := os.MkdirTemp("", "s3")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	server, err := s3.Open(dir, s3.Options{ObjectCreated: func(e objectevent.Event) {
		fmt.Println("created:", e.Detail.Bucket.Name, e.Detail.Object.Key, e.Detail.Object.Size)
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := server.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	if err := server.CreateBucket("incoming"); err != nil {
		fmt.Println(err)
		return
	}
	err = objects.Local(server.Endpoint(), s3.DefaultRegion).Put(ctx, objects.Put{
		Bucket: "incoming", Key: "users.csv", Body: strings.NewReader("user_id\n"), Size: 8,
	})
	fmt.Println(err)
	// Output:
	// created: incoming users.csv 8
	// <nil>
}
