package startevents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Bucket is an Inbox: a prefix of a bucket, one object for each event.
type Bucket struct {
	Client *s3.Client
	Name   string
}

const folder = "undelivered-events/"

// Keep keeps an event for which no execution could be started. The same event has one place.
func (b *Bucket) Keep(ctx context.Context, u Undelivered) error {
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	_, err = b.Client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.Name,
		Key: aws.String(folder + u.Event.ExecutionName() + ".json"), Body: bytes.NewReader(text),
		ContentLength: aws.Int64(int64(len(text))), ContentType: aws.String("application/json")})
	return err
}

// Each implements Inbox.
func (b *Bucket) Each(ctx context.Context, visit func(Undelivered) error) error {
	pages := s3.NewListObjectsV2Paginator(b.Client, &s3.ListObjectsV2Input{Bucket: &b.Name,
		Prefix: aws.String(folder)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			u := Undelivered{Place: aws.ToString(o.Key)}
			if err := b.read(ctx, &u); err != nil {
				return fmt.Errorf("s3://%s/%s: %w", b.Name, u.Place, err)
			}
			if err := visit(u); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Bucket) read(ctx context.Context, u *Undelivered) error {
	out, err := b.Client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.Name, Key: &u.Place})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	return json.NewDecoder(out.Body).Decode(u)
}

// Remove implements Inbox.
func (b *Bucket) Remove(ctx context.Context, u Undelivered) error {
	_, err := b.Client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.Name, Key: &u.Place})
	return err
}
