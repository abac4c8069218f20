/** What the application does in the background: jobs as effect-mq defines them. Nothing here knows where they are kept. */
import { Schema } from "effect"
import { Flow, Job } from "effect-mq"

/** Sends one mail. Tried three times, a little later each time. */
export class SendMail extends Job.make("SendMail", {
  payload: { to: Schema.String, subject: Schema.String },
  success: Schema.Struct({ messageId: Schema.String }),
  error: Schema.Struct({ reason: Schema.String }),
  defaults: { attempts: 3, backoff: { type: "exponential", delay: "200 millis" } }
}) {}

/** Sends a newsletter: one mail a reader, and a report when all have been sent or have failed. */
export class Newsletter extends Job.make("Newsletter", {
  payload: { subject: Schema.String, readers: Schema.Array(Schema.String) },
  success: Schema.Struct({ sent: Schema.Finite, failed: Schema.Finite })
}) {}

export const NewsletterFlow = Flow.make("newsletter", { parent: Newsletter, children: [SendMail] })
