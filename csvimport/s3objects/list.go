package s3objects

import (
	"context"

	"stepback/aws/objects"
	"stepback/csvimport"
)

// List implements csvimport.Objects.
func (o *Objects) List(ctx context.Context, bucket, prefix string, visit func(csvimport.ObjectInfo) error) error {
	in := objects.List{Bucket: bucket, Prefix: prefix}
	for {
		page, err := o.client.List(ctx, in)
		if err != nil {
			return failure("list", csvimport.Location{Bucket: bucket, Key: prefix}.String(), err)
		}
		for _, object := range page.Objects {
			info := csvimport.ObjectInfo{Key: object.Key, ETag: csvimport.UnquoteETag(object.ETag), Size: object.Size,
				LastModified: object.LastModified}
			if err := visit(info); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		in.Token = page.Next
	}
}

// Head implements csvimport.Objects.
func (o *Objects) Head(ctx context.Context, at csvimport.Location) (csvimport.ObjectInfo, error) {
	out, err := o.client.Head(ctx, objects.Get{Bucket: at.Bucket, Key: at.Key})
	if err != nil {
		return csvimport.ObjectInfo{}, failure("look at", at.String(), err)
	}
	return csvimport.ObjectInfo{Key: at.Key, ETag: csvimport.UnquoteETag(out.ETag), Size: out.Size}, nil
}
