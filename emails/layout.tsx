import type { ReactNode } from 'react';
import { Body, Button, Container, Head, Heading, Html, Img, Preview, Section, Text } from 'react-email';
import type { Look } from './mails.ts';
import type { Detail, Message } from './message.ts';
import { textsOf } from './texts/texts.ts';
import { accented, darkClass, darkStyles, theme } from './theme.ts';

/** The HTML of a mail. */
export function Layout(
  { subject, preview, heading, displayName, body, details, action, note, look = {} }: Message & {
    readonly look?: Look;
  },
): ReactNode {
  const { lang, hello } = textsOf(look.locale);
  return (
    <Html lang={lang}>
      <Head>
        <meta name='viewport' content='width=device-width, initial-scale=1' />
        <meta name='color-scheme' content='light dark' />
        <meta name='supported-color-schemes' content='light dark' />
        <title>{subject}</title>
        <style>{darkStyles}</style>
      </Head>
      <Body className={darkClass.page} style={theme.page}>
        <Preview useTitleTag={false}>{preview}</Preview>
        <Brand look={look} />
        <Container className={darkClass.card} style={theme.card}>
          <Heading className={darkClass.text} style={theme.heading}>{heading}</Heading>
          <Text className={darkClass.text} style={theme.text}>
            <Greeting hello={hello} name={displayName.trim()} />
          </Text>
          <Text className={darkClass.text} style={theme.text}>{body}</Text>
          <Details details={details} />
          <Section>
            <Button href={webAddress(action.url)} style={{ ...theme.action, ...accented(look.accent) }}>
              {action.label}
            </Button>
          </Section>
          <Text className={darkClass.muted} style={theme.note}>{note}</Text>
        </Container>
        <Footer look={look} />
      </Body>
    </Html>
  );
}

/** The logo, else the name of the app. */
function Brand({ look: { brand, logoUrl } }: { readonly look: Look }): ReactNode {
  if (!brand && !logoUrl) return null;
  return (
    <Container style={theme.brand}>
      {logoUrl
        ? <Img src={webAddress(logoUrl)} alt={brand ?? ''} height='32' style={theme.logo} />
        : <Text className={darkClass.text} style={theme.name}>{brand}</Text>}
    </Container>
  );
}

function Footer({ look: { footer } }: { readonly look: Look }): ReactNode {
  if (!footer) return null;
  return (
    <Container style={theme.brand}>
      <Text className={darkClass.muted} style={theme.footer}>{footer}</Text>
    </Container>
  );
}

// A name may be in a right-to-left script. `bdi` keeps the comma in its place.
function Greeting({ hello, name }: { readonly hello: string; readonly name: string }): ReactNode {
  return name === '' ? `${hello},` : (
    <>
      {hello} <bdi>{name}</bdi>,
    </>
  );
}

function Details({ details }: { readonly details: readonly Detail[] }): ReactNode {
  return (
    <table width='100%' cellPadding='0' cellSpacing='0' style={theme.details}>
      <tbody>
        {details.map(({ label, value }) => (
          <tr key={label}>
            <th scope='row' className={`${darkClass.muted} ${darkClass.line}`} style={theme.label}>{label}</th>
            <td className={`${darkClass.text} ${darkClass.line}`} style={theme.value}>
              <bdi>{value}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function webAddress(url: string): string {
  if (!/^https?:$/.test(new URL(url).protocol)) throw new Error('A mail links to http(s) addresses only');
  return url;
}
