import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { changeScheduled } from './change-scheduled.tsx';
import { changeUndone } from './change-undone.tsx';
import { Layout } from './layout.tsx';
import type { Look, Mail, Mails } from './mails.ts';
import type { Message } from './message.ts';
import { paymentFailed } from './payment-failed.tsx';
import { paymentPending } from './payment-pending.tsx';
import { paymentRefunded } from './payment-refunded.tsx';
import { paymentSuccess } from './payment-success.tsx';
import { plainText } from './plain-text.ts';
import { planChanged } from './plan-changed.tsx';
import { receiptIssued } from './receipt-issued.tsx';
import { subscriptionCancelled } from './subscription-cancelled.tsx';
import { subscriptionCompleted } from './subscription-completed.tsx';
import { subscriptionEnded } from './subscription-ended.tsx';
import { subscriptionEnding } from './subscription-ending.tsx';
import { subscriptionHalted } from './subscription-halted.tsx';
import { subscriptionRenewed } from './subscription-renewed.tsx';
import { subscriptionResumed } from './subscription-resumed.tsx';
import { textsOf } from './texts/texts.ts';

/** The mails that the function renders. `npm run generate` bundles this file. */
export const mails: Mails = {
  paymentSuccess: (props, look) => render(paymentSuccess(props, textsOf(look?.locale)), look),
  paymentFailed: (props, look) => render(paymentFailed(props, textsOf(look?.locale)), look),
  paymentPending: (props, look) => render(paymentPending(props, textsOf(look?.locale)), look),
  paymentRefunded: (props, look) => render(paymentRefunded(props, textsOf(look?.locale)), look),
  receiptIssued: (props, look) => render(receiptIssued(props, textsOf(look?.locale)), look),
  changeScheduled: (props, look) => render(changeScheduled(props, textsOf(look?.locale)), look),
  changeUndone: (props, look) => render(changeUndone(props, textsOf(look?.locale)), look),
  planChanged: (props, look) => render(planChanged(props, textsOf(look?.locale)), look),
  subscriptionResumed: (props, look) => render(subscriptionResumed(props, textsOf(look?.locale)), look),
  subscriptionCancelled: (props, look) => render(subscriptionCancelled(props, textsOf(look?.locale)), look),
  subscriptionRenewed: (props, look) => render(subscriptionRenewed(props, textsOf(look?.locale)), look),
  subscriptionHalted: (props, look) => render(subscriptionHalted(props, textsOf(look?.locale)), look),
  subscriptionCompleted: (props, look) => render(subscriptionCompleted(props, textsOf(look?.locale)), look),
  subscriptionEnding: (props, look) => render(subscriptionEnding(props, textsOf(look?.locale)), look),
  subscriptionEnded: (props, look) => render(subscriptionEnded(props, textsOf(look?.locale)), look),
};

// The doctype of react-email's preview.
const doctype = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" ' +
  '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';

function render(message: Message, look: Look = {}): Mail {
  return {
    // A subject is one header line, and a plan's name may contain line breaks.
    subject: message.subject.replace(/[\s\p{Cc}]+/gu, ' '),
    html: doctype + renderToStaticMarkup(createElement(Layout, { ...message, look })),
    text: plainText(message, look),
  };
}
