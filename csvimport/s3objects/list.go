package s3objects

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/csvimport"
)

// List implements csvimport.Objects.
func (o *Objects) List(ctx context.Context, bucket, prefix string, visit func(csvimport.ObjectInfo) error) error {
	pages := s3.NewListObjectsV2Paginator(o.client, &s3.ListObjectsV2Input{Bucket: aws.String(bucket),
		Prefix: aws.String(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return failure("list", csvimport.Location{Bucket: bucket, Key: prefix}.String(), err)
		}
		for _, object := range page.Contents {
			info := csvimport.ObjectInfo{Key: aws.ToString(object.Key), Size: aws.ToInt64(object.Size),
				LastModified: aws.ToTime(object.LastModified)}
			if err := visit(info); err != nil {
				return err
			}
		}
	}
	return nil
}
