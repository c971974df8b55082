import { withDurableExecution } from '@aws/durable-execution-sdk-js';

export class CardServiceBusy extends Error {}

const doubling = (error, attempt) => (error instanceof CardServiceBusy && attempt < 4
  ? { shouldRetry: true, delay: { seconds: 2 ** attempt } } : { shouldRetry: false });
const jittered = (error, attempt) => ({ shouldRetry: attempt < 3, delay: { seconds: 1 + Math.floor(1000 * Math.random()) } });

export const handler = withDurableExecution(async (order, context) => {
  const stock = await context.step('reserve', async ({ attempt }) => `r-${order.id}-${attempt}`);
  const price = await context.invoke('price', 'prices:live', { id: order.id });
  const payment = await context.step('charge', async () => { throw new Error('the real charge ran'); }, { retryStrategy: doubling });
  await context.wait('cool down', { seconds: 86400 });
  if (order.review) {
    const said = JSON.parse(await context.waitForCallback('approval', async () => { throw new Error('the real submitter ran'); },
      { timeout: { seconds: 7200 } }));
    if (!said.approved) throw Object.assign(new Error(said.why), { name: 'Rejected' });
  }
  return { stock, price, payment };
});

export const rows = withDurableExecution(async (event, context) => context.map('rows', event.rows,
  (c, row) => c.step('save', async () => row, { retryStrategy: doubling })));

export const polls = withDurableExecution(async (event, context) => context.waitForCondition('ready', async (n) => n + 1,
  { initialState: 0, waitStrategy: (n) => (n < 3 ? { shouldContinue: true, delay: { seconds: 60 } } : { shouldContinue: false }) }));

export const jitter = withDurableExecution(async (event, context) => context.step('lucky', async () => { throw new Error('no luck'); },
  { retryStrategy: jittered }));

export const environment = withDurableExecution(async (event, context) => context.step('read', async () => process.env.TABLE));

export const plain = async () => 1;
