# State machines, an activity, a function and a log group at a running stepback serve. terraform.sh applies it, expects the next
# plan to be empty, changes it, and destroys it.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

variable "endpoint" {
  type = string
}

variable "comment" {
  type    = string
  default = "first"
}

provider "aws" {
  region                  = "us-east-1"
  access_key              = "local"
  secret_key              = "local"
  skip_metadata_api_check = true
  s3_use_path_style       = true

  endpoints {
    lambda = var.endpoint
    logs   = var.endpoint
    s3     = var.endpoint
    sfn    = var.endpoint
    sts    = var.endpoint
  }
}

data "aws_caller_identity" "me" {}

locals {
  role = "arn:aws:iam::${data.aws_caller_identity.me.account_id}:role/r"
}

resource "aws_cloudwatch_log_group" "orders" {
  name              = "/aws/vendedlogs/states/orders"
  retention_in_days = 7
  tags              = { team = "orders" }
}

resource "aws_sfn_activity" "review" {
  name = "review"
  tags = { team = "orders" }

  encryption_configuration {
    type                              = "CUSTOMER_MANAGED_KMS_KEY"
    kms_key_id                        = "alias/orders"
    kms_data_key_reuse_period_seconds = 600
  }
}

resource "aws_lambda_function" "reserve" {
  function_name    = "reserve"
  role             = local.role
  runtime          = "python3.12"
  handler          = "main.handler"
  filename         = "${path.module}/function.zip"
  source_code_hash = filebase64sha256("${path.module}/function.zip")
  publish          = true

  environment {
    variables = { STOCK = "3" }
  }
}

resource "aws_lambda_alias" "live" {
  name             = "live"
  function_name    = aws_lambda_function.reserve.function_name
  function_version = aws_lambda_function.reserve.version
}

resource "aws_sfn_state_machine" "orders" {
  name     = "orders"
  role_arn = local.role
  publish  = true
  tags     = { team = "orders" }

  definition = jsonencode({
    Comment = var.comment
    StartAt = "Reserve"
    States = {
      Reserve = {
        Type       = "Task"
        Resource   = "arn:aws:states:::lambda:invoke"
        Parameters = { FunctionName = aws_lambda_alias.live.arn, "Payload.$" = "$" }
        Next       = "Review"
      }
      Review = {
        Type             = "Task"
        Resource         = aws_sfn_activity.review.id
        HeartbeatSeconds = 60
        End              = true
      }
    }
  })

  logging_configuration {
    level                  = "ALL"
    include_execution_data = true
    log_destination        = "${aws_cloudwatch_log_group.orders.arn}:*"
  }

  tracing_configuration {
    enabled = true
  }
}

resource "aws_sfn_state_machine" "quick" {
  name     = "quick"
  role_arn = local.role
  type     = "EXPRESS"

  definition = jsonencode({
    StartAt = "P"
    States  = { P = { Type = "Pass", End = true } }
  })
}

resource "aws_sfn_alias" "live" {
  name = "live"

  routing_configuration {
    state_machine_version_arn = aws_sfn_state_machine.orders.state_machine_version_arn
    weight                    = 100
  }
}

output "alias" {
  value = aws_sfn_alias.live.arn
}
