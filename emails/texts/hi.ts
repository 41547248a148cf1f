import type { FailedRenewalProps, GoingOnProps, NextCharge, SubscriptionCancelledProps } from '../mails.ts';
import type { Texts } from './en.ts';

/** Every text of the mails in Hindi. */
export const hi = (): Texts => {
  const charge = (next: NextCharge) =>
    next
      ? `अगली राशि ${next.on} को ली जाएगी${next.amount ? `: ${next.amount}` : ''}।`
      : `${next === null ? 'आगे' : 'फ़िलहाल आगे'} कोई राशि नहीं ली जाएगी।`;
  const bought = 'यदि आपने इस बीच कोई प्लान ख़रीद लिया है, या प्लान जारी नहीं रखना चाहते, तो कुछ करने की ज़रूरत नहीं है।';
  const changed = 'यदि आपने इस बीच इसे बदल या रद्द कर दिया है, तो कुछ करने की ज़रूरत नहीं है।';
  const otherAccess = 'आपके पास दूसरा प्लान भी है, जिस पर कोई असर नहीं पड़ता।';
  const valid = (until: string | null) => until === null ? '' : ` और ${until} तक मान्य है`;
  const goesOn = ({ planName, validUntil, nextPlanName, nextCharge }: GoingOnProps) => {
    const end = !nextCharge || nextPlanName !== null ? valid(validUntil) : '';
    const next = nextPlanName === null ? '' : ` उसके बाद आपका ${nextPlanName} प्लान शुरू होगा।`;
    return `आपका ${planName} प्लान जारी है${end}।${next} ${charge(nextCharge)}`;
  };
  type End = Pick<FailedRenewalProps, 'accessEndsOn' | 'isEnded'>;
  const access = ({ accessEndsOn: day, isEnded }: End, beside: string, ends: (day: string) => string) =>
    day === null ? beside : isEnded ? `आपका एक्सेस ${day} को समाप्त हुआ।` : ends(day);
  const cancelled = (props: SubscriptionCancelledProps) => {
    const other = props.isEnded ? 'अब आपके पास कोई प्लान नहीं है।' : 'आपका दूसरा प्लान जारी है।';
    return access(props, other, (day) => `आपका एक्सेस ${day} तक रहेगा।`);
  };
  const receiptNote = 'यह ई-मेल सँभालकर रखें। इस भुगतान के बारे में कोई प्रश्न हो, तो लेन-देन आईडी बताएँ।';
  return {
    lang: 'hi',
    hello: 'नमस्ते',
    amountOn: (amount, day) => amount === null ? day : `${day} को ${amount}`,
    labels: {
      plan: 'प्लान',
      nextPlan: 'अगला प्लान',
      amount: 'राशि',
      amountPaid: 'चुकाई गई राशि',
      credit: 'क्रेडिट',
      price: 'कीमत',
      payment: 'भुगतान',
      refunded: 'लौटाई गई राशि',
      reason: 'कारण',
      notCharged: 'नहीं ली जा सकी',
      withoutPayment: 'बिना भुगतान के',
      validUntil: 'कब तक मान्य',
      paidUntil: 'भुगतान कब तक का',
      accessUntil: 'एक्सेस कब तक',
      accessEnded: 'एक्सेस समाप्त',
      ended: 'समाप्त',
      starts: 'कब से शुरू',
      undoUntil: 'वापस लेने की अंतिम तारीख',
      resumeUntil: 'फिर से शुरू करने की अंतिम तारीख',
      nextPayment: 'अगला भुगतान',
      transaction: 'लेन-देन आईडी',
      number: 'संख्या',
      date: 'तारीख',
      total: 'कुल',
    },
    actions: {
      plans: 'प्लान देखें',
      dashboard: 'अपना डैशबोर्ड खोलें',
      retry: 'फिर से कोशिश करें',
      manage: 'अपना भुगतान देखें',
      renew: 'अपना प्लान नवीनीकृत करें',
    },
    accessUntil: (day) => `एक्सेस ${day} तक`,
    paymentSuccess: {
      subject: ({ planName, startsOn }) =>
        `भुगतान मिल गया: आपका ${planName} प्लान ${startsOn ? `${startsOn} को शुरू होगा` : 'सक्रिय है'}`,
      preview: ({ amount, validUntil }) => `${amount} का भुगतान हुआ। आपका प्लान ${validUntil} तक मान्य है।`,
      heading: 'भुगतान मिल गया',
      body: ({ startsOn }) =>
        `धन्यवाद। हमें आपका भुगतान मिल गया है, और आपका प्लान ${startsOn ? `${startsOn} को शुरू होगा` : 'सक्रिय है'}।`,
      note: receiptNote,
    },
    subscriptionRenewed: {
      subject: ({ planName }) => `आपका ${planName} प्लान नवीनीकृत हो गया है`,
      preview: ({ amount, validUntil }) => `${amount} का भुगतान हुआ। आपका प्लान ${validUntil} तक मान्य है।`,
      heading: 'आपका प्लान नवीनीकृत हो गया है',
      body: 'धन्यवाद। हमें आपका भुगतान मिल गया है, और आपका प्लान नवीनीकृत हो गया है।',
      note: receiptNote,
    },
    paymentFailed: {
      subject: ({ planName }) => `${planName} प्लान के लिए आपका भुगतान असफल रहा`,
      preview: ({ amount }) => `${amount} का भुगतान नहीं हो सका। आप फिर से कोशिश कर सकते हैं।`,
      heading: 'भुगतान असफल',
      body: 'आपका भुगतान नहीं हो सका। इस कोशिश से आपकी सदस्यता में कोई बदलाव नहीं हुआ है, और आप फिर से कोशिश कर सकते हैं।',
      note: 'यदि आपने इस बीच किसी दूसरी कोशिश में भुगतान कर दिया है, तो कुछ करने की ज़रूरत नहीं है।',
    },
    paymentPending: {
      subject: ({ planName }) => `आपका ${planName} प्लान अभी नवीनीकृत नहीं हो सका`,
      preview: 'भुगतान नहीं हो सका। अपने आप फिर से कोशिश की जाएगी।',
      heading: 'आपका प्लान अभी नवीनीकृत नहीं हो सका',
      body: ({ planName, ...props }) =>
        `आपके ${planName} प्लान की अगली अवधि का भुगतान नहीं हो सका। अगले कुछ दिनों में अपने आप फिर से कोशिश की जाएगी। ` +
        'कृपया जाँचें कि आपका भुगतान का तरीका काम कर रहा है। ' +
        access(props, otherAccess, (day) => `यदि कोई भुगतान सफल नहीं होता, तो आपका एक्सेस ${day} को समाप्त होगा।`),
      note: 'यदि आपने इस बीच भुगतान कर दिया है, तो कुछ करने की ज़रूरत नहीं है।',
    },
    subscriptionHalted: {
      subject: ({ planName }) => `आपका ${planName} प्लान नवीनीकृत नहीं हो सका`,
      preview: 'भुगतान नहीं हो सका। अपने आप फिर से कोशिश नहीं की जाएगी।',
      heading: 'आपका प्लान नवीनीकृत नहीं हो सका',
      body: ({ planName, manageUrl, ...props }) =>
        `आपके ${planName} प्लान की अगली अवधि का भुगतान नहीं हो सका, और आगे की सभी कोशिशें असफल रहीं। ` +
        'अपने आप फिर से कोशिश नहीं की जाएगी। ' +
        access(props, otherAccess, (day) => `बिना भुगतान के आपका एक्सेस ${day} तक है।`) +
        (manageUrl === null ? ' जारी रखने के लिए फिर से कोई प्लान चुनें।' : ' जारी रखने के लिए भुगतान करें या भुगतान का तरीका बदलें।'),
      note: 'यदि आपने इस बीच भुगतान कर दिया है, या प्लान जारी नहीं रखना चाहते, तो कुछ करने की ज़रूरत नहीं है।',
    },
    paymentRefunded: {
      subject: ({ refunded }) => `${refunded} लौटाए गए`,
      preview: ({ paid, planName }) => `${planName} प्लान के लिए आपके ${paid} के भुगतान में से।`,
      heading: 'आपका रिफ़ंड',
      body: ({ refunded, paid, planName, accessPlanName, accessEndsOn, nextCharge }) =>
        (refunded === paid
          ? `${planName} प्लान के लिए आपका ${paid} का भुगतान लौटाया गया। `
          : `${planName} प्लान के लिए आपके ${paid} के भुगतान में से ${refunded} लौटाए गए। `) +
        (accessPlanName === null
          ? 'अब आपके पास कोई प्लान नहीं है।'
          : `आपका ${accessPlanName} प्लान बना रहेगा${valid(accessEndsOn)}।`) +
        ` ${charge(nextCharge)} रिफ़ंड को आपके खाते में दिखने में कुछ दिन लग सकते हैं।`,
      note: 'यह ई-मेल सँभालकर रखें। इस रिफ़ंड के बारे में कोई प्रश्न हो, तो लेन-देन आईडी बताएँ।',
    },
    titles: {
      'Receipt': 'रसीद',
      'Tax invoice': 'टैक्स इनवॉइस',
      'Credit note': 'क्रेडिट नोट',
      'Credit note without GST': 'बिना जीएसटी का क्रेडिट नोट',
    },
    receiptIssued: {
      subject: ({ title, documentNumber }) => `${title} ${documentNumber}`,
      preview: ({ date, total }) => `${date}, ${total}।`,
      body: ({ documentNumber, date }) => `${date} का दस्तावेज़ ${documentNumber} साथ में है।`,
      note: 'यह ई-मेल सँभालकर रखें।',
    },
    changeScheduled: {
      subject: ({ planName, startsOn }) => `आपका प्लान ${startsOn} से ${planName} होगा`,
      preview: ({ amount, interval, startsOn }) => `${interval} ${amount}, पहली बार ${startsOn} को।`,
      heading: 'आपका प्लान बदलेगा',
      body: ({ planName, startsOn, amount, interval, undoUntil }) =>
        `आपका ${planName} प्लान ${startsOn} से शुरू होगा। तब तक आपका मौजूदा प्लान चलता रहेगा। ` +
        `उस दिन ${amount} लिए जाएँगे, फिर ${interval} ${amount}। ` +
        (undoUntil === null
          ? 'यह बदलाव अब वापस नहीं लिया जा सकता।'
          : `आप अपने प्लान के पेज पर यह बदलाव ${undoUntil} तक वापस ले सकते हैं।`),
      price: ({ amount, interval }) => `${interval} ${amount}`,
      note: 'यदि आपने इस बीच बदलाव वापस ले लिया है, तो कुछ करने की ज़रूरत नहीं है।',
    },
    changeUndone: {
      subject: ({ planName }) => `आपका ${planName} प्लान बना रहेगा`,
      preview: 'आपके प्लान का बदलाव वापस ले लिया गया है।',
      heading: 'बदलाव वापस ले लिया गया है',
      body: (props) => `अब आपका प्लान नहीं बदलेगा। ${goesOn(props)}`,
      note: changed,
    },
    subscriptionResumed: {
      subject: ({ planName }) => `आपकी ${planName} सदस्यता फिर से शुरू हो गई है`,
      preview: 'आपका रद्द करना वापस ले लिया गया है।',
      heading: 'आपकी सदस्यता फिर से शुरू हो गई है',
      body: (props) => `आपने सदस्यता रद्द करना वापस ले लिया है। ${goesOn(props)}`,
      note: changed,
    },
    planChanged: {
      subject: ({ planName }) => `आपका प्लान बदल गया है: ${planName}`,
      preview: ({ planName, oldPlanName, credit, nextCharge }) =>
        credit === null
          ? charge(nextCharge)
          : planName === oldPlanName
          ? `नई अवधि शुरू हो गई है, और पुरानी अवधि के ${credit} क्रेडिट किए गए।`
          : `आपका ${oldPlanName} प्लान समाप्त हो गया है, और उसके ${credit} क्रेडिट किए गए।`,
      heading: 'आपका प्लान बदल गया है',
      body: ({ planName, oldPlanName, credit, amount, validUntil, nextCharge, isAuthorised }) => {
        const next = !nextCharge
          ? 'यह अपने आप नवीनीकृत नहीं होता।'
          : isAuthorised
          ? charge(nextCharge)
          : `आपकी अनुमति के बाद अगली राशि ${nextCharge.on} को ली जाएगी: ${nextCharge.amount}।`;
        const [begun, old] = planName === oldPlanName
          ? [`आपके ${planName} प्लान ${credit === null ? 'का मूल्य बदल गया' : 'की नई अवधि शुरू हो गई'} है।`, 'पुरानी अवधि']
          : [`आपका ${planName} प्लान शुरू हो गया है, और आपका ${oldPlanName} प्लान समाप्त हो गया है।`, 'पुराने प्लान'];
        const paid = credit === null ? '' : ` ${old} के बचे समय के लिए ${credit} क्रेडिट किए गए, और आपने ${amount} चुकाए।`;
        return `${begun}${paid} आपका प्लान ${validUntil} तक मान्य है। ${next}`;
      },
      note: changed,
    },
    subscriptionCancelled: {
      subject: ({ planName }) => `आपकी ${planName} सदस्यता रद्द हो गई है`,
      preview: (props) => `इसके लिए आगे कोई राशि नहीं ली जाएगी। ${cancelled(props)}`,
      heading: 'आपकी सदस्यता रद्द हो गई है',
      body: (props) =>
        `आपने अपनी ${props.planName} सदस्यता रद्द कर दी है। इसके लिए आगे कोई राशि नहीं ली जाएगी। ${cancelled(props)}` +
        (props.resumeUntil === null ? '' : ` आप सदस्यता ${props.resumeUntil} तक फिर से शुरू कर सकते हैं।`),
      note: 'यदि आपने इस बीच इसे फिर से शुरू किया है या कोई प्लान ख़रीदा है, तो कुछ करने की ज़रूरत नहीं है।',
    },
    subscriptionCompleted: {
      subject: ({ planName }) => `आपकी ${planName} सदस्यता पूरी हो गई है`,
      preview: ({ endsOn }) => `अंतिम भुगतान हो गया है। प्लान का भुगतान ${endsOn} तक हो चुका है।`,
      heading: 'आपकी सदस्यता पूरी हो गई है',
      body: ({ planName, endsOn, ...props }) => {
        const after = access(
          props,
          'उसके बाद आपका दूसरा प्लान जारी रहेगा।',
          (day) => day === endsOn ? 'उसके बाद आपका एक्सेस समाप्त होगा।' : `आपका एक्सेस ${day} को समाप्त होगा।`,
        );
        return `आपकी ${planName} सदस्यता का अंतिम भुगतान हो गया है। इसके लिए आगे कोई राशि नहीं ली जाएगी। ` +
          `प्लान का भुगतान ${endsOn} तक हो चुका है। ${after} आप उस दिन या बाद में फिर से प्लान चुन सकते हैं।`;
      },
      note: bought,
    },
    subscriptionEnding: {
      subject: ({ planName, endsOn }) => `आपका ${planName} प्लान ${endsOn} को समाप्त होगा`,
      preview: {
        replace: 'आप इसे उस दिन या बाद में फिर से ख़रीद सकते हैं।',
        extend: 'यदि आप इसे उससे पहले नवीनीकृत करते हैं, तो आपका कोई दिन नहीं घटेगा।',
        none: 'यह अब बिक्री पर नहीं है। आप कोई दूसरा प्लान चुन सकते हैं।',
      },
      heading: 'आपका एक्सेस जल्द समाप्त होगा',
      body: ({ endsOn, earlyRenewal }) =>
        `आपका प्लान ${endsOn} तक मान्य है। उसके बाद आपका एक्सेस समाप्त होगा। ` + {
          replace: 'आप प्लान उस दिन या बाद में फिर से ख़रीद सकते हैं।',
          extend: 'एक्सेस बनाए रखने के लिए उससे पहले प्लान नवीनीकृत करें: नई अवधि इसमें जुड़ेगी, और आपका कोई दिन नहीं घटेगा।',
          none: 'यह प्लान अब बिक्री पर नहीं है। आप कोई दूसरा चुन सकते हैं।',
        }[earlyRenewal],
      note: bought,
    },
    subscriptionEnded: {
      subject: ({ planName }) => `आपका ${planName} प्लान समाप्त हो गया है`,
      preview: (day) => `आपका एक्सेस ${day} को समाप्त हुआ।`,
      heading: 'आपका एक्सेस समाप्त हो गया है',
      body: ({ planName, endsOn, refunded, nextCharge }, day) =>
        refunded === undefined
          ? `आपके ${planName} प्लान का एक्सेस ${day} को समाप्त हुआ। आप कभी भी वापस आ सकते हैं।`
          : `आपके ${planName} प्लान का एक्सेस ${endsOn} को समाप्त हुआ, क्योंकि ${refunded} लौटाए गए। ${charge(nextCharge)}`,
      note: 'यदि आपने इस बीच कोई प्लान ख़रीद लिया है, तो कुछ करने की ज़रूरत नहीं है।',
    },
  };
};
