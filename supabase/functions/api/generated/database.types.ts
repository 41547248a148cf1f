// GENERATED from the migrations by `npm run generate`. DO NOT EDIT.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Database = {
  'public': {
    Tables: {
      'billing_details': {
        Row: {
          'address': string | null;
          'country': string | null;
          'gstin': string | null;
          'name': string | null;
          'state': string | null;
          'updated_at': string;
          'user_id': string;
        };
        ComputedFields: never;
        Insert: {
          'address'?: string | null;
          'country'?: string | null;
          'gstin'?: string | null;
          'name'?: string | null;
          'state'?: string | null;
          'updated_at'?: string;
          'user_id': string;
        };
        Update: {
          'address'?: string | null;
          'country'?: string | null;
          'gstin'?: string | null;
          'name'?: string | null;
          'state'?: string | null;
          'updated_at'?: string;
          'user_id'?: string;
        };
        Relationships: [];
      };
      'payments': {
        Row: {
          'amount': number;
          'base_amount': number | null;
          'cancel_at_period_end': boolean;
          'captured_at': string | null;
          'chain_id': string | null;
          'chain_start': string | null;
          'confirmed_at': string | null;
          'created_at': string;
          'credit': number | null;
          'credited_amount': number | null;
          'credited_id': string | null;
          'credited_kind': string | null;
          'credited_until': string | null;
          'currency': string;
          'dispute_event_at': string | null;
          'dispute_status': string | null;
          'duration_months': number | null;
          'ended_at': string | null;
          'ended_reason': string | null;
          'extends_from': string | null;
          'extra_of': string | null;
          'failed_subscription_id': string | null;
          'fulfilled_at': string | null;
          'gateway_key_id': string | null;
          'gateway_order_id': string | null;
          'gateway_payment_id': string | null;
          'gateway_signature': string | null;
          'gateway_subscription_id': string | null;
          'id': string;
          'idempotency_keys': (string)[];
          'is_attempt_open': boolean;
          'meta': Json | null;
          'next_reconcile_at': string | null;
          'paid_amount': number | null;
          'period_end': string | null;
          'period_start': string | null;
          'plan_id': string | null;
          'price_amount': number | null;
          'price_key': string | null;
          'read_at': string | null;
          'read_attempts': number;
          'reads': number;
          'refunded_amount': number;
          'settle_at': string | null;
          'since': string | null;
          'starts': string | null;
          'status': string;
          'subscription_id': string | null;
          'tier': string | null;
          'uncaptured_at': string | null;
          'user_deleted_at': string | null;
          'user_id': string | null;
          'verified_at': string | null;
        };
        ComputedFields: never;
        Insert: {
          'amount': number;
          'base_amount'?: number | null;
          'cancel_at_period_end'?: boolean;
          'captured_at'?: string | null;
          'chain_id'?: string | null;
          'chain_start'?: string | null;
          'confirmed_at'?: string | null;
          'created_at'?: string;
          'credit'?: number | null;
          'credited_amount'?: number | null;
          'credited_id'?: string | null;
          'credited_kind'?: string | null;
          'credited_until'?: string | null;
          'currency'?: string;
          'dispute_event_at'?: string | null;
          'dispute_status'?: string | null;
          'duration_months'?: number | null;
          'ended_at'?: string | null;
          'ended_reason'?: string | null;
          'extends_from'?: string | null;
          'extra_of'?: string | null;
          'failed_subscription_id'?: string | null;
          'fulfilled_at'?: string | null;
          'gateway_key_id'?: string | null;
          'gateway_order_id'?: string | null;
          'gateway_payment_id'?: string | null;
          'gateway_signature'?: string | null;
          'gateway_subscription_id'?: string | null;
          'id'?: string;
          'idempotency_keys'?: (string)[];
          'is_attempt_open'?: boolean;
          'meta'?: Json | null;
          'next_reconcile_at'?: string | null;
          'paid_amount'?: number | null;
          'period_end'?: string | null;
          'period_start'?: string | null;
          'plan_id'?: string | null;
          'price_amount'?: number | null;
          'price_key'?: string | null;
          'read_at'?: string | null;
          'read_attempts'?: number;
          'reads'?: number;
          'refunded_amount'?: number;
          'settle_at'?: string | null;
          'since'?: string | null;
          'starts'?: string | null;
          'status'?: string;
          'subscription_id'?: string | null;
          'tier'?: string | null;
          'uncaptured_at'?: string | null;
          'user_deleted_at'?: string | null;
          'user_id'?: string | null;
          'verified_at'?: string | null;
        };
        Update: {
          'amount'?: number;
          'base_amount'?: number | null;
          'cancel_at_period_end'?: boolean;
          'captured_at'?: string | null;
          'chain_id'?: string | null;
          'chain_start'?: string | null;
          'confirmed_at'?: string | null;
          'created_at'?: string;
          'credit'?: number | null;
          'credited_amount'?: number | null;
          'credited_id'?: string | null;
          'credited_kind'?: string | null;
          'credited_until'?: string | null;
          'currency'?: string;
          'dispute_event_at'?: string | null;
          'dispute_status'?: string | null;
          'duration_months'?: number | null;
          'ended_at'?: string | null;
          'ended_reason'?: string | null;
          'extends_from'?: string | null;
          'extra_of'?: string | null;
          'failed_subscription_id'?: string | null;
          'fulfilled_at'?: string | null;
          'gateway_key_id'?: string | null;
          'gateway_order_id'?: string | null;
          'gateway_payment_id'?: string | null;
          'gateway_signature'?: string | null;
          'gateway_subscription_id'?: string | null;
          'id'?: string;
          'idempotency_keys'?: (string)[];
          'is_attempt_open'?: boolean;
          'meta'?: Json | null;
          'next_reconcile_at'?: string | null;
          'paid_amount'?: number | null;
          'period_end'?: string | null;
          'period_start'?: string | null;
          'plan_id'?: string | null;
          'price_amount'?: number | null;
          'price_key'?: string | null;
          'read_at'?: string | null;
          'read_attempts'?: number;
          'reads'?: number;
          'refunded_amount'?: number;
          'settle_at'?: string | null;
          'since'?: string | null;
          'starts'?: string | null;
          'status'?: string;
          'subscription_id'?: string | null;
          'tier'?: string | null;
          'uncaptured_at'?: string | null;
          'user_deleted_at'?: string | null;
          'user_id'?: string | null;
          'verified_at'?: string | null;
        };
        Relationships: [
          {
            foreignKeyName: 'payments_extra_of_fkey';
            columns: ['extra_of'];
            isOneToOne: false;
            referencedRelation: 'payments';
            referencedColumns: ['id'];
          },
          {
            foreignKeyName: 'payments_subscription_id_fkey';
            columns: ['subscription_id'];
            isOneToOne: false;
            referencedRelation: 'subscriptions';
            referencedColumns: ['id'];
          },
        ];
      };
      'plans': {
        Row: {
          'billing_cycles': number | null;
          'created_at': string;
          'currency': string;
          'duration_months': number | null;
          'entitlements': NonNullable<Json>;
          'features': NonNullable<Json>;
          'gateway_plan_id': string | null;
          'grace_days': number;
          'id': string;
          'is_active': boolean;
          'lookup_key': string | null;
          'name': string;
          'price': number;
          'rank': number | null;
          'tier': string;
          'trial_days': number;
        };
        ComputedFields: never;
        Insert: {
          'billing_cycles'?: number | null;
          'created_at'?: string;
          'currency'?: string;
          'duration_months'?: number | null;
          'entitlements'?: NonNullable<Json>;
          'features'?: NonNullable<Json>;
          'gateway_plan_id'?: string | null;
          'grace_days'?: number;
          'id'?: string;
          'is_active'?: boolean;
          'lookup_key'?: string | null;
          'name': string;
          'price': number;
          'rank'?: number | null;
          'tier': string;
          'trial_days'?: number;
        };
        Update: {
          'billing_cycles'?: number | null;
          'created_at'?: string;
          'currency'?: string;
          'duration_months'?: number | null;
          'entitlements'?: NonNullable<Json>;
          'features'?: NonNullable<Json>;
          'gateway_plan_id'?: string | null;
          'grace_days'?: number;
          'id'?: string;
          'is_active'?: boolean;
          'lookup_key'?: string | null;
          'name'?: string;
          'price'?: number;
          'rank'?: number | null;
          'tier'?: string;
          'trial_days'?: number;
        };
        Relationships: [];
      };
      'profiles': {
        Row: {
          'created_at': string;
          'display_name': string | null;
          'subscription_tier': string | null;
          'user_id': string;
          'username': string | null;
        };
        ComputedFields: never;
        Insert: {
          'created_at'?: string;
          'display_name'?: string | null;
          'subscription_tier'?: string | null;
          'user_id': string;
          'username'?: string | null;
        };
        Update: {
          'created_at'?: string;
          'display_name'?: string | null;
          'subscription_tier'?: string | null;
          'user_id'?: string;
          'username'?: string | null;
        };
        Relationships: [];
      };
      'receipts': {
        Row: {
          'buyer': NonNullable<Json>;
          'category': string;
          'currency': string;
          'dispute_id': string | null;
          'document_date': string;
          'document_number': string;
          'id': string;
          'issued_at': string;
          'kind': string;
          'lines': NonNullable<Json>;
          'number': number;
          'payment_id': string;
          'place_of_supply': string | null;
          'receipt_id': string | null;
          'refund_id': string | null;
          'reissue_of': string | null;
          'rupees': Json | null;
          'seller': NonNullable<Json>;
          'series': string;
          'tax_period': string;
          'title': string;
          'totals': NonNullable<Json>;
          'user_id': string | null;
        };
        ComputedFields: never;
        Insert: {
          'buyer': NonNullable<Json>;
          'category': string;
          'currency': string;
          'dispute_id'?: string | null;
          'document_date': string;
          'document_number': string;
          'id'?: string;
          'issued_at': string;
          'kind': string;
          'lines': NonNullable<Json>;
          'number': number;
          'payment_id': string;
          'place_of_supply'?: string | null;
          'receipt_id'?: string | null;
          'refund_id'?: string | null;
          'reissue_of'?: string | null;
          'rupees'?: Json | null;
          'seller': NonNullable<Json>;
          'series': string;
          'tax_period': string;
          'title': string;
          'totals': NonNullable<Json>;
          'user_id'?: string | null;
        };
        Update: {
          'buyer'?: NonNullable<Json>;
          'category'?: string;
          'currency'?: string;
          'dispute_id'?: string | null;
          'document_date'?: string;
          'document_number'?: string;
          'id'?: string;
          'issued_at'?: string;
          'kind'?: string;
          'lines'?: NonNullable<Json>;
          'number'?: number;
          'payment_id'?: string;
          'place_of_supply'?: string | null;
          'receipt_id'?: string | null;
          'refund_id'?: string | null;
          'reissue_of'?: string | null;
          'rupees'?: Json | null;
          'seller'?: NonNullable<Json>;
          'series'?: string;
          'tax_period'?: string;
          'title'?: string;
          'totals'?: NonNullable<Json>;
          'user_id'?: string | null;
        };
        Relationships: [
          {
            foreignKeyName: 'receipts_receipt_id_fkey';
            columns: ['receipt_id'];
            isOneToOne: false;
            referencedRelation: 'receipts';
            referencedColumns: ['id'];
          },
        ];
      };
      'subscriptions': {
        Row: {
          'cancel_at_period_end': boolean;
          'cancelled_at': string | null;
          'created_at': string;
          'currency': string | null;
          'current_period_end': string | null;
          'current_period_start': string | null;
          'due_at': string | null;
          'duration_months': number | null;
          'ended_reason': string | null;
          'entitlements': Json | null;
          'gateway_subscription_id': string | null;
          'id': string;
          'plan_id': string | null;
          'price_amount': number | null;
          'price_key': string | null;
          'revision': number;
          'status': string;
          'tier': string;
          'updated_at': string;
          'user_id': string;
        };
        ComputedFields: never;
        Insert: {
          'cancel_at_period_end'?: boolean;
          'cancelled_at'?: string | null;
          'created_at'?: string;
          'currency'?: string | null;
          'current_period_end'?: string | null;
          'current_period_start'?: string | null;
          'due_at'?: string | null;
          'duration_months'?: number | null;
          'ended_reason'?: string | null;
          'entitlements'?: Json | null;
          'gateway_subscription_id'?: string | null;
          'id'?: string;
          'plan_id'?: string | null;
          'price_amount'?: number | null;
          'price_key'?: string | null;
          'revision'?: number;
          'status': string;
          'tier': string;
          'updated_at'?: string;
          'user_id': string;
        };
        Update: {
          'cancel_at_period_end'?: boolean;
          'cancelled_at'?: string | null;
          'created_at'?: string;
          'currency'?: string | null;
          'current_period_end'?: string | null;
          'current_period_start'?: string | null;
          'due_at'?: string | null;
          'duration_months'?: number | null;
          'ended_reason'?: string | null;
          'entitlements'?: Json | null;
          'gateway_subscription_id'?: string | null;
          'id'?: string;
          'plan_id'?: string | null;
          'price_amount'?: number | null;
          'price_key'?: string | null;
          'revision'?: number;
          'status'?: string;
          'tier'?: string;
          'updated_at'?: string;
          'user_id'?: string;
        };
        Relationships: [
          {
            foreignKeyName: 'subscriptions_plan_id_fkey';
            columns: ['plan_id'];
            isOneToOne: false;
            referencedRelation: 'plans';
            referencedColumns: ['id'];
          },
        ];
      };
    };
    Views: {
      [_ in never]: never;
    };
    Functions: {
      'apply_gateway_event': {
        Args: { 'p_account_id'?: string; 'p_body'?: string; 'p_body_sha256': string; 'p_event_id'?: string };
        Returns: Json;
      };
      'apply_gateway_subscription': { Args: { 'p_entity'?: string; 'p_id': string }; Returns: Json };
      'apply_invoices': { Args: { 'p_gateway_subscription_id': string; 'p_items'?: string }; Returns: Json };
      'apply_order_payments': { Args: { 'p_items'?: string; 'p_payment_id': string }; Returns: Json };
      'apply_order_read': { Args: { 'p_items'?: string; 'p_payment_id': string }; Returns: Json };
      'apply_settlement': { Args: { 'p_lines'?: string; 'p_settlement': string }; Returns: Json };
      'apply_settlement_page': {
        Args: { 'p_day': string; 'p_items'?: string; 'p_settlement_id': string; 'p_skip': number };
        Returns: Json;
      };
      'apply_statement_item': {
        Args: { 'p_invoice'?: string; 'p_item': string; 'p_list': string; 'p_subscription'?: string };
        Returns: Json;
      };
      'apply_statement_page': {
        Args: {
          'p_applied'?: number;
          'p_items'?: string;
          'p_list': string;
          'p_pass': string;
          'p_skip': number;
          'p_to': number;
        };
        Returns: Json;
      };
      'begin_reconciliation': { Args: { 'p_run_id': string }; Returns: Json };
      'cancel_subscription': { Args: { 'p_at_period_end': boolean; 'p_user_id': string }; Returns: Json };
      'claim_outbox': { Args: { 'p_destinations': string }; Returns: Json };
      'claim_payments_to_reconcile': { Args: Record<PropertyKey, never>; Returns: Json };
      'claim_settlement_pages': { Args: Record<PropertyKey, never>; Returns: Json };
      'claim_statement_pages': { Args: Record<PropertyKey, never>; Returns: Json };
      'claim_subscriptions_to_reconcile': { Args: Record<PropertyKey, never>; Returns: Json };
      'complete_outbox': {
        Args: { 'p_ids': string; 'p_note'?: string; 'p_refund'?: string; 'p_token': string };
        Returns: Json;
      };
      'confirm_stop': {
        Args: { 'p_at_cycle_end': boolean; 'p_entity'?: string; 'p_id': number; 'p_invoices'?: string };
        Returns: Json;
      };
      'create_change': {
        Args: {
          'p_gateway_key_id'?: string;
          'p_payment_id'?: string;
          'p_price'?: string;
          'p_tier': string;
          'p_user_id': string;
          'p_when': string;
        };
        Returns: Json;
      };
      'create_order': {
        Args: {
          'p_gateway_key_id'?: string;
          'p_idempotency_key'?: string;
          'p_is_read'?: boolean;
          'p_price'?: string;
          'p_start'?: string;
          'p_tier': string;
          'p_user_id': string;
        };
        Returns: Json;
      };
      'create_subscription': {
        Args: {
          'p_gateway_key_id'?: string;
          'p_idempotency_key'?: string;
          'p_price'?: string;
          'p_tier': string;
          'p_user_id': string;
        };
        Returns: Json;
      };
      'current_tier': { Args: Record<PropertyKey, never>; Returns: string };
      'current_tiers': { Args: Record<PropertyKey, never>; Returns: (string)[] };
      'discard_order': { Args: { 'p_payment_id': string }; Returns: Json };
      'end_reconciliation': {
        Args: { 'p_gateway_now'?: number; 'p_is_done': boolean; 'p_run_id': string };
        Returns: undefined;
      };
      'fail_outbox': {
        Args: {
          'p_error': string;
          'p_final'?: boolean;
          'p_ids': string;
          'p_pause_seconds'?: number;
          'p_token': string;
        };
        Returns: Json;
      };
      'feature_limit': { Args: { 'p_feature': string }; Returns: number };
      'get_billing_details': { Args: { 'p_user_id': string }; Returns: Json };
      'get_document': { Args: { 'p_id': string; 'p_user_id': string }; Returns: Json };
      'get_health': { Args: { 'p_destinations'?: string }; Returns: Json };
      'get_order': { Args: { 'p_can_read': boolean; 'p_order_id': string; 'p_user_id': string }; Returns: Json };
      'get_receipt': { Args: { 'p_payment_id': string; 'p_user_id': string }; Returns: Json };
      'get_schema_version': { Args: { 'p_function_version': string }; Returns: Json };
      'get_subscription': { Args: { 'p_user_id': string }; Returns: Json };
      'has_feature': { Args: { 'p_feature': string }; Returns: boolean };
      'has_tier': { Args: { 'p_tier': string }; Returns: boolean };
      'has_tier_at_least': { Args: { 'p_tier': string }; Returns: boolean };
      'list_plans': { Args: Record<PropertyKey, never>; Returns: Json };
      'list_plans_for_user': { Args: { 'p_user_id': string }; Returns: Json };
      'next_outbox_attempt': { Args: { 'p_destinations': string }; Returns: Json };
      'preview_change': {
        Args: { 'p_is_read'?: boolean; 'p_price'?: string; 'p_tier': string; 'p_user_id': string; 'p_when': string };
        Returns: Json;
      };
      'purge_records': {
        Args: { 'p_ledger_days': number; 'p_outbox_days': number; 'p_tier_history_days': number };
        Returns: Json;
      };
      'put_billing_details': { Args: { 'p_details': string; 'p_user_id': string }; Returns: Json };
      'resume_subscription': { Args: { 'p_user_id': string }; Returns: Json };
      'store_order': { Args: { 'p_order_id': string; 'p_payment_id': string }; Returns: Json };
      'store_subscription': {
        Args: { 'p_gateway_subscription_id'?: string; 'p_id': string; 'p_short_url'?: string };
        Returns: Json;
      };
      'verify_payment': {
        Args: { 'p_order_id': string; 'p_payment_id': string; 'p_signature': string; 'p_user_id': string };
        Returns: Json;
      };
      'verify_returned_payment': {
        Args: { 'p_order_id': string; 'p_payment_id': string; 'p_signature': string };
        Returns: Json;
      };
      'verify_subscription': {
        Args: {
          'p_entity'?: string;
          'p_gateway_subscription_id': string;
          'p_payment'?: string;
          'p_payment_id': string;
          'p_user_id': string;
        };
        Returns: Json;
      };
    };
    Enums: {
      [_ in never]: never;
    };
    CompositeTypes: {
      [_ in never]: never;
    };
  };
};

type DatabaseWithoutInternals = Omit<Database, '__InternalSupabase'>;

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, 'public'>];

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema['Tables'] & DefaultSchema['Views'])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  } ? keyof (
      & DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
      & DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Views']
    )
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals } ? (
    & DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
    & DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Views']
  )[TableName] extends {
    Row: infer R;
  } ? R
  : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema['Tables'] & DefaultSchema['Views'])
    ? (DefaultSchema['Tables'] & DefaultSchema['Views'])[DefaultSchemaTableNameOrOptions] extends {
      Row: infer R;
    } ? R
    : never
  : never;

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema['Tables']
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  } ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables'][TableName] extends {
    Insert: infer I;
  } ? I
  : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema['Tables']
    ? DefaultSchema['Tables'][DefaultSchemaTableNameOrOptions] extends {
      Insert: infer I;
    } ? I
    : never
  : never;

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema['Tables']
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  } ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables']
    : never = never,
> = DefaultSchemaTableNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions['schema']]['Tables'][TableName] extends {
    Update: infer U;
  } ? U
  : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema['Tables']
    ? DefaultSchema['Tables'][DefaultSchemaTableNameOrOptions] extends {
      Update: infer U;
    } ? U
    : never
  : never;

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema['Enums']
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  } ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions['schema']]['Enums']
    : never = never,
> = DefaultSchemaEnumNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions['schema']]['Enums'][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema['Enums']
    ? DefaultSchema['Enums'][DefaultSchemaEnumNameOrOptions]
  : never;

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema['CompositeTypes']
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  } ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions['schema']]['CompositeTypes']
    : never = never,
> = PublicCompositeTypeNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions['schema']]['CompositeTypes'][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema['CompositeTypes']
    ? DefaultSchema['CompositeTypes'][PublicCompositeTypeNameOrOptions]
  : never;

export const Constants = {
  'public': {
    Enums: {},
  },
} as const;
