package sdkobjects

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"stepback/aws/objects"
)

// CreateUpload implements objects.Store.
func (s *Store) CreateUpload(ctx context.Context, in objects.Put) (objects.Upload, error) {
	out, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{
		Bucket: &in.Bucket, Key: &in.Key, ContentType: optional(in.ContentType),
	})
	if err != nil {
		return objects.Upload{}, err
	}
	return objects.Upload{Bucket: in.Bucket, Key: in.Key, ID: aws.ToString(out.UploadId)}, nil
}

// UploadPart implements objects.Store.
func (s *Store) UploadPart(ctx context.Context, u objects.Upload, p objects.Part) (string, error) {
	number := aws.Int32(int32(p.Number))
	if p.FromKey != "" {
		out, err := s.client.UploadPartCopy(ctx, &s3.UploadPartCopyInput{
			Bucket: &u.Bucket, Key: &u.Key, UploadId: &u.ID, PartNumber: number,
			CopySource: aws.String(objects.CopySource(p.FromBucket, p.FromKey)), CopySourceRange: optional(p.Range),
		})
		if err != nil || out.CopyPartResult == nil {
			return "", err
		}
		return aws.ToString(out.CopyPartResult.ETag), nil
	}
	out, err := s.client.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &u.Bucket, Key: &u.Key, UploadId: &u.ID, PartNumber: number, Body: p.Body, ContentLength: &p.Size,
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// CompleteUpload implements objects.Store.
func (s *Store) CompleteUpload(ctx context.Context, u objects.Upload, etags []string) (string, error) {
	parts := make([]types.CompletedPart, len(etags))
	for i := range etags {
		parts[i] = types.CompletedPart{ETag: &etags[i], PartNumber: aws.Int32(int32(i) + 1)}
	}
	out, err := s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &u.Bucket, Key: &u.Key, UploadId: &u.ID, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ETag), nil
}

// AbortUpload implements objects.Store.
func (s *Store) AbortUpload(ctx context.Context, u objects.Upload) error {
	_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: &u.Bucket, Key: &u.Key, UploadId: &u.ID,
	})
	return err
}
